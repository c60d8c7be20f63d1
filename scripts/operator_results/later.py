"""Cases that came after the others; they draw last, so that those stay as they are."""
import numpy as np

from common import T, case, f, ints
from recurrent import run


def products_and_likes():
    fam = "contraction"
    for a, b, attrs in ((f(4, 4), f(4, 3), {}), (f(3, 5), f(5, 2), {"upper": 1}), (f(5, 3), f(3, 2), {"upper": 1}), (f(2, 3, 4), f(4, 2), {}),
                        (f(2, 1, 3, 3), f(4, 3, 2), {"upper": 1}), (f(4, 3), f(3), {}), (f(0, 3), f(3, 2), {})):
        kept = np.triu(a.a) if attrs else np.tril(a.a)
        case(fam, "triangular_matmul", [a, b], T("f32", kept @ b.a), **attrs)
    a, b = ints(3, 4, dtype="i8"), ints(4, 2, dtype="i8")
    case(fam, "triangular_matmul", [a, b], T("i32", np.tril(a.a.astype(np.int64)) @ b.a.astype(np.int64)))
    case("movement", "slice", [f(0, 3)], T("f32", np.zeros((0, 3))), axes=[0], starts=[-1], ends=[-100], steps=[-2])
    fam = "elementwise"
    x = f(2, 5, low=-40, high=40)
    case(fam, "cast_like", [x, ints(3)], T("i32", np.trunc(x.a)))
    n = ints(4, dtype="i64")
    case(fam, "cast_like", [n, f()], T("f32", n.a))
    for shape, attrs, dtype in (((3, 4), {}, "f32"), ((4, 3), {"k": -1}, "f32"), ((3, 3), {"k": 2}, "f32"), ((2, 4), {"dtype": "i64", "k": 1}, "i64"), ((0, 3), {}, "f32")):
        case(fam, "eye_like", [f(*shape)], T(dtype, np.eye(*shape, k=attrs.get("k", 0))), **attrs)
    case(fam, "pow", [T("i32", [2, -3, 0, 7, 1]), T("i32", [10, 3, 0, 2, 5])], T("i32", [1024, -27, 1, 49, 1]))
    case(fam, "pow", [T("u8", [2, 3]), T("u8", [9, 6])], T("u8", [0, 217]))


def more_activations():
    run("rnn", activations=["Affine"], alpha=[0.5], beta=[0.25])
    run("rnn", "bidirectional", activations=["LeakyRelu", "Elu"], alpha=[0.25, 0.5])
    run("gru", activations=["HardSigmoid", "ScaledTanh"], alpha=[0.25, 1.5], beta=[0.375, 0.75])
    run("lstm", activations=["HardSigmoid", "ThresholdedRelu", "Elu"])
    run("lstm", activations=["Sigmoid", "LeakyRelu", "ScaledTanh"], alpha=[0.125, 2.0], beta=[0.5])
