"""Elementwise operators and activations."""
import math

import numpy as np

from common import T, bools, case, erf, f, ints, pos, sigmoid, softplus


def elementwise():
    fam = "elementwise"
    for op, fn in {"add": np.add, "sub": np.subtract, "mul": np.multiply}.items():
        for a, b in ((f(2, 3), f(2, 3)), (f(2, 1, 3), f(4, 1)), (f(5), f()), (f(0, 3), f(3)), (f(7, dtype="bf16"), f(7, dtype="bf16")),
                     (f(3, dtype="f16"), f(2, 1, dtype="f16")), (f(3, dtype="f64"), f(3, dtype="f64")), (ints(2, 3), ints(3)),
                     (ints(4, dtype="i64"), ints(4, dtype="i64"))):
            case(fam, op, [a, b], T(a.dtype, fn(a.a, b.a)))
    case(fam, "add", [T("u8", [128, 255]), T("u8", [128, 3])], T("u8", [0, 2]))
    case(fam, "mul", [T("i8", [6, 100]), T("i8", [25, 100])], T("i8", [-106, 16]))
    case(fam, "sub", [T("u8", [1]), T("u8", [2])], T("u8", [255]))
    a, b = f(2, 3), pos(3)
    case(fam, "div", [a, b], T("f32", a.a / b.a))
    case(fam, "div", [T("i32", [7, -7, 7, -7, 5, -2147483648]), T("i32", [2, 2, -2, -2, 0, -1])], T("i32", [3, -3, -3, 3, 0, -2147483648]))
    case(fam, "div", [T("u8", [200, 7]), T("u8", [3, 0])], T("u8", [66, 0]))
    case(fam, "mod", [T("i32", [7, -7, 7, -7, 6, 5]), T("i32", [3, 3, -3, -3, 3, 0])], T("i32", [1, 2, -2, -1, 0, 0]))
    case(fam, "mod", [T("i32", [7, -7, 7, -7]), T("i32", [3, 3, -3, -3])], T("i32", [1, -1, 1, -1]), fmod=1)
    case(fam, "mod", [T("u8", [200]), T("u8", [7])], T("u8", [4]))
    a, b = f(2, 3), pos(3)
    case(fam, "mod", [a, b], T("f32", np.fmod(a.a, b.a)), fmod=1)
    a, b = pos(2, 3), f(3)
    case(fam, "pow", [a, b], T("f32", a.a ** b.a))
    for op, fn in {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_or_equal": np.less_equal, "greater": np.greater,
                   "greater_or_equal": np.greater_equal}.items():
        for a, b in ((ints(3, 5, low=-2, high=2), ints(5, low=-2, high=2)), (f(2, 3, low=-2, high=2), f(1, low=-2, high=2)),
                     (T("f32", [np.nan, 1, np.nan]), T("f32", [np.nan, np.nan, 2]))):
            case(fam, op, [a, b], T("bool", fn(a.a, b.a)))
    a, b = bools(4), bools(3, 4)
    case(fam, "and", [a, b], T("bool", a.a & b.a))
    case(fam, "or", [a, b], T("bool", a.a | b.a))
    case(fam, "xor", [a, b], T("bool", a.a ^ b.a))
    case(fam, "not", [a], T("bool", ~a.a))
    for d in ("i32", "u8", "i64"):
        a, b = ints(2, 4, dtype=d, low=0, high=120), ints(4, dtype=d, low=0, high=120)
        case(fam, "bitwise_and", [a, b], T(d, a.a & b.a))
        case(fam, "bitwise_or", [a, b], T(d, a.a | b.a))
        case(fam, "bitwise_xor", [a, b], T(d, a.a ^ b.a))
        case(fam, "bitwise_not", [a], T(d, ~a.a))
    case(fam, "bit_shift", [T("u8", [1, 3, 255]), T("u8", [7, 1, 4])], T("u8", [128, 6, 240]), direction="LEFT")
    case(fam, "bit_shift", [T("u8", [128, 3, 255]), T("u8", [7, 1, 4])], T("u8", [1, 1, 15]), direction="RIGHT")
    case(fam, "bit_shift", [T("i32", [-8, 1]), T("i32", [1, 33])], T("i32", [-4, 0]), direction="RIGHT")
    c, a, b = bools(2, 3), f(3), f(2, 1)
    case(fam, "where", [c, a, b], T("f32", np.where(c.a, a.a, b.a)))
    case(fam, "where", [T("bool", [1, 0]), T("f32", [1, np.nan]), T("f32", [np.inf, 2])], T("f32", [1, 2]))
    a, b, c = f(4), f(3, 1), f(3, 4)
    case(fam, "max", [a, b, c], T("f32", np.maximum(np.maximum(a.a, b.a), c.a)))
    case(fam, "min", [a, b, c], T("f32", np.minimum(np.minimum(a.a, b.a), c.a)))
    case(fam, "sum", [a, b, c], T("f32", a.a + b.a + c.a))
    case(fam, "mean", [a, b, c], T("f32", (a.a + b.a + c.a) / 3))
    case(fam, "max", [T("i8", [-3, 4]), T("i8", [2, -128])], T("i8", [2, 4]))
    # NaN wins on either side.
    x, y = [np.nan, -3, 2, 0.25, np.nan], [1, np.nan, 2, 0, np.nan]
    for d in ("f32", "f16"):
        case(fam, "max", [T(d, x), T(d, y)], T(d, [np.nan, np.nan, 2, 0.25, np.nan]))
        case(fam, "max", [T(d, y), T(d, x)], T(d, [np.nan, np.nan, 2, 0.25, np.nan]))
        case(fam, "min", [T(d, x), T(d, y)], T(d, [np.nan, np.nan, 2, 0, np.nan]))
        case(fam, "clip", [T(d, x)], T(d, [np.nan, 0.5, 2, 0.5, np.nan]), min=0.5)
        case(fam, "relu", [T(d, x)], T(d, [np.nan, 0, 2, 0.25, np.nan]))
        case(fam, "reduce_max", [T(d, x)], T(d, [np.nan]))
    for at in (0, 1, 31, 999):
        v = np.arange(1000) / 8.0
        v[at] = np.nan
        case(fam, "reduce_max", [T("f32", v)], T("f32", [np.nan]))
    # Casts.
    case(fam, "cast", [T("f32", [0.2691408770292272, 3.14, 1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8, np.nan, 3.4e38])],
         T("bf16", [0.26953125, 3.140625, 1.0, 1.015625, np.nan, np.inf]), to="bf16")
    case(fam, "cast", [T("f32", [2.7, -2.7, 300, -300, np.nan, np.inf])], T("i8", [2, -2, 127, -128, 0, 127]), to="i8")
    case(fam, "cast", [T("f32", [2.7, -2.7, 300])], T("u8", [2, 0, 255]), to="u8")
    case(fam, "cast", [T("f32", [0, 0.5, np.nan, -1])], T("bool", [0, 1, 1, 1]), to="bool")
    case(fam, "cast", [T("i32", [300, -1, 127])], T("i8", [44, -1, 127]), to="i8")
    case(fam, "cast", [T("bool", [0, 1])], T("f32", [0, 1]), to="f32")
    case(fam, "cast", [T("f32", [65519, 65520, 0.1, 2.0 ** -25])], T("f16", [65504, np.inf, 0.0999755859375, 0]), to="f16")


def activations():
    fam = "activations"
    x = f(2, 7)
    small = T("f32", np.asarray([-7, -4, 0, 3, 7]) / 8.0)
    big = T("f32", np.asarray([1, 1.5, 2, 8]))
    rows = {"abs": np.abs, "neg": np.negative, "sign": np.sign, "relu": lambda v: np.maximum(v, 0), "identity": lambda v: v, "exp": np.exp,
            "square": lambda v: v * v, "tanh": np.tanh, "erf": erf, "sigmoid": sigmoid, "floor": np.floor, "ceil": np.ceil, "round": np.round,
            "trunc": np.trunc, "sin": np.sin, "cos": np.cos, "tan": np.tan, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
            "asinh": np.arcsinh, "expm1": np.expm1, "softplus": softplus, "softsign": lambda v: v / (1 + np.abs(v)),
            "mish": lambda v: v * np.tanh(softplus(v)), "hard_swish": lambda v: v * np.clip(v / 6 + 0.5, 0, 1), "silu": lambda v: v * sigmoid(v)}
    for op, fn in rows.items():
        for t in (x, f(), f(3, dtype="f64"), f(5, dtype="bf16")):
            case(fam, op, [t], T(t.dtype, fn(t.a)))
    for op, fn in {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh, "log1p": np.log1p}.items():
        case(fam, op, [small], T("f32", fn(small.a)))
    for op, fn in {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda v: v ** -0.5, "reciprocal": lambda v: 1 / v, "acosh": np.arccosh}.items():
        case(fam, op, [big], T("f32", fn(big.a)))
    case(fam, "round", [T("f32", [0.5, 1.5, 2.5, -0.5, -1.5])], T("f32", [0, 2, 2, -0.0, -2]))
    case(fam, "softplus", [T("f32", [-100, 100, 0])], T("f32", [np.exp(-100.0), 100, np.log(2)]))
    case(fam, "sigmoid", [T("f32", [-200, 200])], T("f32", [0, 1]))
    case(fam, "abs", [T("i8", [-128, -3, 3])], T("i8", [-128, 3, 3]))
    case(fam, "neg", [T("i32", [-2147483648, 5])], T("i32", [-2147483648, -5]))
    case(fam, "is_nan", [T("f32", [np.nan, 1, np.inf])], T("bool", [1, 0, 0]))
    odd = T("f32", [np.inf, -np.inf, np.nan, 1])
    case(fam, "is_inf", [odd], T("bool", [1, 1, 0, 0]))
    case(fam, "is_inf", [odd], T("bool", [1, 0, 0, 0]), detect_negative=0)
    case(fam, "is_inf", [odd], T("bool", [0, 1, 0, 0]), detect_positive=0)
    v = x.a
    gelu = 0.5 * v * (1 + erf(v / math.sqrt(2)))
    case(fam, "gelu", [x], T("f32", gelu))
    case(fam, "gelu", [x], T("f32", 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))), approximate="tanh")
    def elu(v, alpha):
        return np.where(v < 0, alpha * (np.exp(v) - 1), v)
    case(fam, "elu", [x], T("f32", elu(v, 1.0)))
    case(fam, "elu", [x], T("f32", elu(v, 0.5)), alpha=0.5)
    case(fam, "selu", [x], T("f32", 1.05070102214813232421875 * elu(v, 1.67326319217681884765625)))
    case(fam, "selu", [x], T("f32", 0.75 * elu(v, 1.5)), alpha=1.5, gamma=0.75)
    for alpha in (1.0, 2.0):
        case(fam, "celu", [x], T("f32", np.maximum(0, v) + np.minimum(0, alpha * (np.exp(v / alpha) - 1))), alpha=alpha)
    case(fam, "leaky_relu", [x], T("f32", np.where(v < 0, 0.01 * v, v)))
    case(fam, "leaky_relu", [x], T("f32", np.where(v < 0, 0.25 * v, v)), alpha=0.25)
    case(fam, "thresholded_relu", [x], T("f32", np.where(v > 1, v, 0)))
    case(fam, "thresholded_relu", [x], T("f32", np.where(v > 0.25, v, 0)), alpha=0.25)
    case(fam, "hard_sigmoid", [x], T("f32", np.clip(0.2 * v + 0.5, 0, 1)))
    case(fam, "hard_sigmoid", [x], T("f32", np.clip(0.5 * v + 0.25, 0, 1)), alpha=0.5, beta=0.25)
    case(fam, "shrink", [x], T("f32", np.where(v < -0.5, v, np.where(v > 0.5, v, 0))))
    case(fam, "shrink", [x], T("f32", np.where(v < -0.25, v + 0.125, np.where(v > 0.25, v - 0.125, 0))), bias=0.125, lambd=0.25)
    case(fam, "clip", [x], T("f32", np.clip(v, -0.5, 0.25)), min=-0.5, max=0.25)
    case(fam, "clip", [T("i32", [-5, 0, 9])], T("i32", [-5, 0, 3]), max=3)
    s = f(7)
    case(fam, "prelu", [x, s], T("f32", np.where(v < 0, s.a * v, v)))
