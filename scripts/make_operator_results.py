#!/usr/bin/env python3
"""Writes tests/numeric/stored/*.json: small operator results computed by numpy alone, independently of Facet.

Run it with numpy installed (a virtual environment will do) from the repository's root:
    python3 scripts/make_operator_results.py
Each line of a stored file is one case: operator, operands, attributes, expected outputs. Inputs are multiples of 1/8, so that they
are exact in every float dtype; results are float64 rounded to nine digits. The formulas are written from the definitions of the
operators, with loops where that is the plainest way to say it.
"""
import itertools
import json
import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "tests", "numeric", "stored")
rng = np.random.default_rng(20240611)
cases = {}
FLOATS = ("f16", "bf16", "f32", "f64")
NUMPY = {"f64": np.float64, "f32": np.float64, "f16": np.float64, "bf16": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
         "i32": np.int32, "i64": np.int64, "bool": np.bool_}


class T:
    """A tensor with a Facet dtype; floats are held as float64."""

    def __init__(self, dtype, values):
        self.dtype = dtype
        self.a = np.asarray(values, dtype=NUMPY[dtype])


def f(*shape, dtype="f32", low=-16, high=16):
    return T(dtype, rng.integers(low, high + 1, size=shape) / 8.0)


def pos(*shape, dtype="f32"):
    return f(*shape, dtype=dtype, low=1, high=24)


def ints(*shape, dtype="i32", low=-8, high=8):
    return T(dtype, rng.integers(low, high + 1, size=shape))


def bools(*shape):
    return T("bool", rng.integers(0, 2, size=shape))


def number(v):
    v = float(v)
    if math.isnan(v):
        return "nan"
    if math.isinf(v):
        return "inf" if v > 0 else "-inf"
    r = float("%.9g" % v)
    return int(r) if r == int(r) and abs(r) < 1e15 else r


def stored(t):
    if t is None:
        return None
    flat = t.a.reshape(-1)
    values = [number(v) for v in flat] if t.dtype in FLOATS else [int(v) for v in flat]
    return {"dtype": t.dtype, "shape": list(t.a.shape), "values": values}


def case(family, op, operands, outs, **attrs):
    if isinstance(outs, T):
        outs = [outs]
    for o in outs:
        if o is not None and o.dtype in ("f16", "bf16"):
            o.a = round16(o.a, o.dtype)
    cases.setdefault(family, []).append(
        {"op": op, "in": [stored(t) for t in operands], "attrs": attrs, "out": [stored(t) for t in outs]})


def round16(a, dtype):
    if dtype == "f16":
        return np.asarray(a, dtype=np.float64).astype(np.float16).astype(np.float64)
    bits = np.asarray(a, dtype=np.float32).view(np.uint32).astype(np.uint64)
    nan = np.isnan(a)
    bits = ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)) << np.uint64(16)
    r = bits.astype(np.uint32).view(np.float32).astype(np.float64)
    return np.where(nan, np.nan, r)


erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(x))


# ---------------------------------------------------------------------------------------------------------------- elementwise
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


# ---------------------------------------------------------------------------------------------------------------- activations
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


# ---------------------------------------------------------------------------------------------------------------- contractions
def contractions():
    fam = "contraction"
    for a, b in ((f(4, 5), f(5, 3)), (f(2, 3, 4), f(4, 5)), (f(2, 1, 3, 4), f(5, 4, 2)), (f(4), f(4)), (f(4), f(4, 3)), (f(3, 4), f(4)), (f(4), f(2, 4, 3)),
                 (f(2, 3, 4), f(4)), (f(4, 0), f(0, 4)), (f(3, 4, 0), f(3, 0, 4)), (f(4, 5, dtype="bf16"), f(5, 3, dtype="bf16")),
                 (f(4, 5, dtype="f16"), f(5, 3, dtype="f16")), (f(4, 5, dtype="f64"), f(5, 3, dtype="f64")), (ints(4, 5), ints(5, 3))):
        case(fam, "matmul", [a, b], T(a.dtype, np.matmul(a.a, b.a)))
    a, b = ints(3, 40, dtype="i8", low=-128, high=127), ints(40, 2, dtype="i8", low=-128, high=127)
    case(fam, "matmul", [a, b], T("i32", np.matmul(a.a.astype(np.int32), b.a.astype(np.int32))))
    a, b, c, r = f(4, 5), f(5, 3), f(3), f(4, 1)
    case(fam, "gemm", [a, b], T("f32", a.a @ b.a))
    case(fam, "gemm", [a, b, c], T("f32", a.a @ b.a + c.a))
    at, bt = f(5, 4), f(3, 5)
    case(fam, "gemm", [at, bt, r], T("f32", 0.5 * at.a.T @ bt.a.T + 2 * r.a), trans_a=1, trans_b=1, alpha=0.5, beta=2.0)
    case(fam, "gemm", [a, b, c], T("f32", a.a @ b.a), beta=0.0)
    x, w, bias = f(2, 4, 5), f(3, 5), f(3)
    case(fam, "linear", [x, w], T("f32", x.a @ w.a.T))
    case(fam, "linear", [x, w, bias], T("f32", x.a @ w.a.T + bias.a))
    for eq, ops in (("ij,jk->ik", [f(3, 4), f(4, 5)]), ("ii->i", [f(3, 3)]), ("ii", [f(3, 3)]), ("ij->ji", [f(3, 4)]), ("ab,bc,cd->ad", [f(2, 3), f(3, 9), f(9, 2)]),
                    ("...ij,jk->...ik", [f(2, 3, 4), f(4, 5)]), ("ij,j", [f(3, 4), f(4)]), ("ij,ij->", [f(3, 4), f(3, 4)]), ("i,j->ij", [f(3), f(4)]),
                    ("bi,bj,bk,ijk->b", [f(2, 3), f(2, 4), f(2, 2), f(3, 4, 2)]), ("b...,b...->...", [f(2, 3, 4), f(2, 3, 4)]), ("ij->", [f(3, 4)])):
        case(fam, "einsum", ops, T("f32", np.einsum(eq, *[o.a for o in ops])), equation=eq)


def conv(x, w, bias, strides, begin, end, dil, group):
    n = x.ndim - 2
    crop = tuple(slice(max(0, -begin[d]), x.shape[2 + d] - max(0, -end[d])) for d in range(n))   # negative padding removes elements
    xp = np.pad(x[(slice(None), slice(None)) + crop], [(0, 0), (0, 0)] + [(max(0, begin[d]), max(0, end[d])) for d in range(n)])
    out = [(xp.shape[2 + d] - dil[d] * (w.shape[2 + d] - 1) - 1) // strides[d] + 1 for d in range(n)]
    y = np.zeros([x.shape[0], w.shape[0]] + out)
    cg, mg = w.shape[1], w.shape[0] // group
    for m in range(w.shape[0]):
        g = m // mg
        for p in itertools.product(*map(range, out)):
            for r in itertools.product(*map(range, w.shape[2:])):
                at = tuple(p[d] * strides[d] + r[d] * dil[d] for d in range(n))
                y[(slice(None), m) + p] += (xp[(slice(None), slice(g * cg, (g + 1) * cg)) + at] * w[(m, slice(None)) + r]).sum(axis=1)
    return y if bias is None else y + bias.reshape([1, -1] + [1] * n)


def conv_transpose(x, w, bias, strides, begin, end, dil, group, extra):
    n = x.ndim - 2
    span = [dil[d] * (w.shape[2 + d] - 1) + 1 for d in range(n)]
    full = [strides[d] * (x.shape[2 + d] - 1) + span[d] + extra[d] for d in range(n)]
    mg, cg = w.shape[1], x.shape[1] // group
    y = np.zeros([x.shape[0], mg * group] + full)
    for c in range(x.shape[1]):
        g = c // cg
        for i in itertools.product(*map(range, x.shape[2:])):
            for r in itertools.product(*map(range, w.shape[2:])):
                at = tuple(i[d] * strides[d] + r[d] * dil[d] for d in range(n))
                for m in range(mg):
                    y[(slice(None), g * mg + m) + at] += x[(slice(None), c) + i] * w[(c, m) + r]
    crop = tuple(slice(begin[d], full[d] - end[d]) for d in range(n))
    y = y[(slice(None), slice(None)) + crop]
    return y if bias is None else y + bias.reshape([1, -1] + [1] * n)


def convolutions():
    fam = "convolution"
    def one(x, w, b, strides=None, pads=None, dil=None, group=1, **attrs):
        n = x.a.ndim - 2
        s, p, d = strides or [1] * n, pads or [0] * (2 * n), dil or [1] * n
        y = conv(x.a, w.a, None if b is None else b.a, s, p[:n], p[n:], d, group)
        given = dict(attrs)
        if "auto_pad" not in attrs:
            for k, v in (("strides", strides), ("pads", pads), ("dilations", dil)):
                if v:
                    given[k] = v
        elif strides:
            given["strides"] = strides
        if group != 1:
            given["group"] = group
        case(fam, "conv", [x, w] + ([] if b is None else [b]), T(x.dtype, y), **given)
    one(f(1, 2, 5, 6), f(3, 2, 3, 3), None)
    one(f(2, 2, 7), f(3, 2, 3), f(3), strides=[2], pads=[1, 2])
    one(f(1, 4, 5, 5), f(6, 2, 3, 2), f(6), group=2, dil=[2, 1], pads=[2, 0, 1, 1])
    one(f(1, 3, 4, 4), f(3, 1, 3, 3), None, group=3, pads=[1, 1, 1, 1])
    one(f(1, 2, 4, 4), f(4, 1, 2, 2), None, group=2, strides=[2, 1])
    one(f(1, 1, 3, 4, 5), f(2, 1, 2, 2, 2), f(2), pads=[1, 0, 1, 0, 1, 0], strides=[1, 2, 1])
    one(f(1, 2, 5, dtype="bf16"), f(2, 2, 3, dtype="bf16"), None, pads=[1, 1])
    one(f(1, 1, 6), f(1, 1, 2), None, pads=[-1, -2], kernel_shape=[2])
    # SAME: ceil(in / stride) windows; the odd element of padding goes behind (UPPER) or in front (LOWER).
    one(f(1, 1, 5), f(1, 1, 4), None, pads=[1, 2], auto_pad="SAME_UPPER")
    one(f(1, 1, 5), f(1, 1, 4), None, pads=[2, 1], auto_pad="SAME_LOWER")
    one(f(1, 1, 6), f(1, 1, 3), None, strides=[2], pads=[0, 1], auto_pad="SAME_UPPER")
    one(f(1, 1, 6), f(1, 1, 3), None, auto_pad="VALID")
    x, w = ints(1, 1, 5, dtype="i8"), ints(1, 1, 3, dtype="i8")
    case(fam, "conv", [x, w], T("i32", conv(x.a.astype(np.int64), w.a.astype(np.int64), None, [1], [0], [0], [1], 1)))

    def two(x, w, b, strides=None, pads=None, dil=None, extra=None, group=1, **attrs):
        n = x.a.ndim - 2
        s, p, d, e = strides or [1] * n, pads or [0] * (2 * n), dil or [1] * n, extra or [0] * n
        y = conv_transpose(x.a, w.a, None if b is None else b.a, s, p[:n], p[n:], d, group, e)
        given = dict(attrs)
        for k, v in (("strides", strides), ("dilations", dil), ("output_padding", extra)):
            if v:
                given[k] = v
        if pads and "auto_pad" not in attrs and "output_shape" not in attrs:
            given["pads"] = pads
        if group != 1:
            given["group"] = group
        case(fam, "conv_transpose", [x, w] + ([] if b is None else [b]), T(x.dtype, y), **given)
    two(f(1, 2, 3, 3), f(2, 3, 3, 3), None, kernel_shape=[3, 3])
    two(f(1, 2, 4), f(2, 3, 4), f(3), strides=[2], pads=[1, 0], extra=[1])
    two(f(1, 4, 3, 4), f(4, 2, 3, 2), f(4), strides=[2, 3], dil=[3, 2], group=2)
    two(f(1, 1, 5), f(1, 1, 3), None, strides=[2], dil=[2])
    two(f(1, 1, 5), f(1, 1, 3), None, strides=[4], dil=[6], pads=[1, 2])
    two(f(2, 1, 2, 2, 3), f(1, 2, 2, 1, 3), None, strides=[2, 1, 3], pads=[0, 0, 1, 1, 0, 1])
    two(f(1, 1, 3), f(1, 1, 5), None, strides=[3], pads=[2, 2])
    # full = 2*(3-1)+3 = 7, wanted 6: one element cut, behind for UPPER, in front otherwise.
    two(f(1, 1, 3), f(1, 2, 3), None, strides=[2], pads=[0, 1], auto_pad="SAME_UPPER")
    two(f(1, 1, 3), f(1, 2, 3), None, strides=[2], pads=[1, 0], auto_pad="SAME_LOWER")
    two(f(1, 1, 3), f(1, 2, 3), None, strides=[3], pads=[1, 0], output_shape=[8])


# ---------------------------------------------------------------------------------------------------------------- reductions
def reductions():
    fam = "reduction"
    rows = {"reduce_sum": lambda v, **k: v.sum(**k), "reduce_mean": lambda v, **k: v.mean(**k), "reduce_prod": lambda v, **k: v.prod(**k),
            "reduce_max": lambda v, **k: v.max(**k), "reduce_min": lambda v, **k: v.min(**k), "reduce_l1": lambda v, **k: np.abs(v).sum(**k),
            "reduce_l2": lambda v, **k: np.sqrt((v * v).sum(**k)), "reduce_sum_square": lambda v, **k: (v * v).sum(**k),
            "reduce_log_sum": lambda v, **k: np.log(v.sum(**k)), "reduce_log_sum_exp": lambda v, **k: np.log(np.exp(v).sum(**k))}
    for op, fn in rows.items():
        x = pos(2, 3, 4)
        case(fam, op, [x], T("f32", fn(x.a, keepdims=True)))
        case(fam, op, [x], T("f32", fn(x.a, axis=1)), axes=[1], keepdims=0)
        case(fam, op, [x], T("f32", fn(x.a, axis=(0, 2), keepdims=True)), axes=[-1, 0])
        case(fam, op, [x], T("f32", fn(x.a)), keepdims=0, axes=[])
        y = pos(7, dtype="bf16")
        case(fam, op, [y], T("bf16", fn(y.a, keepdims=True)))
    x = f(2, 3)
    x = pos(2, 3)
    one = {"reduce_sum_square": x.a * x.a, "reduce_log_sum": np.log(x.a)}   # of a single element the others are the element
    for op in rows:
        case(fam, op, [x], T("f32", one.get(op, x.a)), noop_with_empty_axes=1)
    case(fam, "reduce_sum", [f(0, 4)], T("f32", np.zeros((1, 4))), axes=[0])
    case(fam, "reduce_prod", [f(0, 4)], T("f32", np.ones((1, 4))), axes=[0])
    case(fam, "reduce_max", [f(0, 2)], T("f32", np.full((1, 2), -np.inf)), axes=[0])
    case(fam, "reduce_min", [T("i32", np.zeros((0, 2)))], T("i32", [[2147483647] * 2]), axes=[0])
    case(fam, "reduce_max", [T("i8", np.zeros((0,)))], T("i8", [-128]))
    case(fam, "reduce_sum", [T("i8", [100, 100, 100])], T("i32", [300]))
    case(fam, "reduce_sum", [T("i32", [2147483647, 1])], T("i32", [-2147483648]))
    case(fam, "reduce_mean", [T("i32", [7, -10])], T("i32", [-1]))
    b = bools(3, 4)
    case(fam, "reduce_any", [b], T("bool", b.a.any(axis=1)), axes=[1], keepdims=0)
    case(fam, "reduce_all", [b], T("bool", b.a.all(axis=0, keepdims=True)), axes=[0])
    case(fam, "reduce_all", [b], T("bool", b.a.all()), keepdims=0)
    for op in ("reduce_any", "reduce_all"):
        case(fam, op, [b], b, noop_with_empty_axes=1)
    case(fam, "reduce_max", [b], T("bool", b.a.max(axis=0, keepdims=True)), axes=[0])
    case(fam, "reduce_log_sum_exp", [T("f32", [1000, 1000])], T("f32", [1000 + math.log(2)]))
    case(fam, "reduce_log_sum_exp", [T("f32", [-np.inf, -np.inf])], T("f32", [-np.inf]))
    case(fam, "reduce_max", [T("f32", -np.arange(16.0).reshape(4, 4))], T("f32", [-0.0, -4, -8, -12]), axes=[1], keepdims=0)
    for op in ("softmax", "log_softmax", "hardmax"):
        for axis in (-1, 0, -2, 1):
            x = f(2, 3, 4)
            e = np.exp(x.a - x.a.max(axis=axis, keepdims=True))
            y = e / e.sum(axis=axis, keepdims=True)
            if op == "log_softmax":
                y = np.log(y)
            if op == "hardmax":
                y = np.zeros_like(x.a)
                np.put_along_axis(y, np.expand_dims(x.a.argmax(axis=axis), axis), 1, axis=axis)
            case(fam, op, [x], T("f32", y), axis=axis)
    case(fam, "softmax", [T("f32", [1000, 1000])], T("f32", [0.5, 0.5]))
    case(fam, "softmax", [T("f32", [-np.inf, 0, 0])], T("f32", [0, 0.5, 0.5]))
    x = f(3, 5)
    for axis in (0, -1):
        for k in ("cum_sum", "cum_prod"):
            fn = np.cumsum if k == "cum_sum" else np.cumprod
            start = 0 if k == "cum_sum" else 1
            for ex, rev in itertools.product((0, 1), (0, 1)):
                v = np.flip(x.a, axis) if rev else x.a
                v = fn(v, axis=axis)
                if ex:
                    v = np.roll(v, 1, axis=axis)
                    v[(0, slice(None)) if axis == 0 else (slice(None), 0)] = start
                v = np.flip(v, axis) if rev else v
                case(fam, k, [x], T("f32", v), axis=axis, exclusive=ex, reverse=rev)
    x = ints(4, 5, low=-2, high=2)
    for op, fn in (("arg_max", np.argmax), ("arg_min", np.argmin)):
        case(fam, op, [x], T("i64", fn(x.a, axis=0)[None]))
        case(fam, op, [x], T("i64", fn(x.a, axis=1)), axis=-1, keepdims=0)
        last = 4 - fn(np.flip(x.a, 1), axis=1)
        case(fam, op, [x], T("i64", last[:, None]), axis=1, select_last_index=1)
        case(fam, op, [T("f32", [1, np.nan, 3, np.nan])], T("i64", [1]))

    def top(x, k, axis, largest):
        v = -x.a if largest else x.a
        order = np.argsort(v, axis=axis, kind="stable")
        order = np.take(order, range(k), axis=axis)
        case(fam, "top_k", [x], [T(x.dtype, np.take_along_axis(x.a, order, axis)), T("i64", order)], k=k, axis=axis, largest=int(largest))
    top(f(7, low=-3, high=3), 3, -1, True)
    top(f(3, 40, low=-3, high=3), 4, -1, True)
    top(f(3, 40, low=-3, high=3), 12, 1, True)
    top(ints(5, 3, low=-1, high=1), 2, 0, False)
    top(ints(40, low=-5, high=5), 5, 0, False)
    top(f(40, low=-3, high=3), 5, 0, False)
    top(T("f32", [-np.inf] * 33), 3, 0, True)
    case(fam, "top_k", [T("f32", [1, np.nan, 3] + [0] * 40)], [T("f32", [np.nan, 3]), T("i64", [1, 2])], k=2)


def normalizations():
    fam = "normalization"
    def moments(v, axes, eps):
        m = v.mean(axis=axes, keepdims=True)
        return m, 1 / np.sqrt(((v - m) ** 2).mean(axis=axes, keepdims=True) + eps)
    x, s, b = f(3, 4), f(4), f(4)
    m, i = moments(x.a, (1,), 1e-5)
    case(fam, "layer_normalization", [x, s, b], [T("f32", (x.a - m) * i * s.a + b.a), T("f32", m), T("f32", i)])
    case(fam, "layer_normalization", [x, s], T("f32", (x.a - m) * i * s.a))
    x, s, b = f(2, 3, 4), f(3, 4), f(4)
    m, i = moments(x.a, (1, 2), 0.1)
    case(fam, "layer_normalization", [x, s, b], T("f32", (x.a - m) * i * s.a + b.a), axis=1, epsilon=0.1)
    case(fam, "layer_normalization", [x, s, b], T("f32", (x.a - m) * i * s.a + b.a), axis=-2, epsilon=0.1)
    s4 = f(4)
    case(fam, "rms_normalization", [x, s4], T("f32", x.a / np.sqrt((x.a ** 2).mean(-1, keepdims=True) + 1e-5) * s4.a))
    case(fam, "rms_normalization", [x, s], T("f32", x.a / np.sqrt((x.a ** 2).mean((1, 2), keepdims=True) + 0.1) * s.a), axis=1, epsilon=0.1)
    x, s, b = f(2, 3, 2, 5), f(3), f(3)
    m, i = moments(x.a, (2, 3), 0.1)
    col = lambda t: t.a.reshape(1, -1, 1, 1)
    case(fam, "instance_normalization", [x, s, b], T("f32", (x.a - m) * i * col(s) + col(b)), epsilon=0.1)
    m, i = moments(x.a, (2, 3), 1e-5)
    case(fam, "instance_normalization", [x, s, b], T("f32", (x.a - m) * i * col(s) + col(b)))
    x, s, b = f(2, 6, 2, 3), f(6), f(6)
    g = x.a.reshape(2, 3, 2, 2, 3)
    m, i = moments(g, (2, 3, 4), 1e-5)
    case(fam, "group_normalization", [x, s, b], T("f32", ((g - m) * i).reshape(x.a.shape) * col(s) + col(b)), num_groups=3)
    m, i = moments(g, (2, 3, 4), 0.1)
    case(fam, "group_normalization", [x, s, b], T("f32", ((g - m) * i).reshape(x.a.shape) * col(s) + col(b)), num_groups=3, epsilon=0.1)
    x, s, b, mean, var = f(2, 3, 4), f(3), f(3), f(3), pos(3)
    c = lambda t: t.a.reshape(1, -1, 1)
    case(fam, "batch_normalization", [x, s, b, mean, var], T("f32", (x.a - c(mean)) / np.sqrt(c(var) + 1e-5) * c(s) + c(b)))
    m, i = moments(x.a, (0, 2), 0.1)
    v = x.a.var(axis=(0, 2))
    case(fam, "batch_normalization", [x, s, b, mean, var],
         [T("f32", (x.a - m) * i * c(s) + c(b)), T("f32", mean.a * 0.75 + m.reshape(-1) * 0.25), T("f32", var.a * 0.75 + v * 0.25)],
         training_mode=1, momentum=0.75, epsilon=0.1)
    x = f(1, 5, 2, 2)
    for size, alpha, beta, bias in ((3, 0.0001, 0.75, 1.0), (2, 0.5, 0.5, 2.0)):
        y = np.zeros_like(x.a)
        for ch in range(5):
            lo, hi = max(0, ch - (size - 1) // 2), min(4, ch + math.ceil((size - 1) / 2))
            y[:, ch] = x.a[:, ch] / (bias + alpha / size * (x.a[:, lo:hi + 1] ** 2).sum(axis=1)) ** beta
        case(fam, "lrn", [x], T("f32", y), size=size, alpha=alpha, beta=beta, bias=bias)
    x = f(2, 3, 2, 2)
    case(fam, "mean_variance_normalization", [x], T("f32", (x.a - x.a.mean((0, 2, 3), keepdims=True)) / (x.a.std((0, 2, 3), keepdims=True) + 1e-9)))
    case(fam, "mean_variance_normalization", [x], T("f32", (x.a - x.a.mean(-1, keepdims=True)) / (x.a.std(-1, keepdims=True) + 1e-9)), axes=[-1])
    x = pos(3, 4)
    case(fam, "lp_normalization", [x], T("f32", x.a / np.sqrt((x.a ** 2).sum(-1, keepdims=True))))
    case(fam, "lp_normalization", [x], T("f32", x.a / np.abs(x.a).sum(0, keepdims=True)), axis=0, p=1)


# ---------------------------------------------------------------------------------------------------------------- pools
def pool(x, kernel, strides, begin, end, dil, ceil, kind, include=False, p=2):
    n = x.ndim - 2
    out = []
    for d in range(n):
        room = x.shape[2 + d] + begin[d] + end[d] - (dil[d] * (kernel[d] - 1) + 1)
        o = (-(-room // strides[d]) if ceil else room // strides[d]) + 1
        if ceil and (o - 1) * strides[d] >= x.shape[2 + d] + begin[d]:
            o -= 1
        out.append(o)
    y = np.zeros(list(x.shape[:2]) + out, dtype=x.dtype)
    for at in itertools.product(range(x.shape[0]), range(x.shape[1]), *map(range, out)):
        values, counted = [], 0
        for r in itertools.product(*map(range, kernel)):
            pos_ = [at[2 + d] * strides[d] - begin[d] + r[d] * dil[d] for d in range(n)]
            inside = all(0 <= pos_[d] < x.shape[2 + d] for d in range(n))
            padded = all(-begin[d] <= pos_[d] < x.shape[2 + d] + end[d] for d in range(n))
            if inside:
                values.append(x[at[:2] + tuple(pos_)])
            counted += inside or (include and padded)
        if kind == "max":
            y[at] = max(values) if values else -np.inf
        elif kind == "average":
            y[at] = sum(values) / counted
        else:
            y[at] = sum(abs(v) ** p for v in values) ** (1.0 / p)
    return y


def pools():
    fam = "pool"
    def one(kind, x, kernel, strides=None, pads=None, dil=None, ceil=0, include=0, p=2, **attrs):
        n = x.a.ndim - 2
        s, pd, d = strides or [1] * n, pads or [0] * (2 * n), dil or [1] * n
        y = pool(x.a, kernel, s, pd[:n], pd[n:], d, ceil, kind, include, p)
        given = dict(kernel_shape=kernel, **attrs)
        for k, v in (("strides", strides), ("dilations", dil)):
            if v:
                given[k] = v
        if pads and "auto_pad" not in attrs:
            given["pads"] = pads
        if ceil:
            given["ceil_mode"] = 1
        if include:
            given["count_include_pad"] = 1
        if kind == "lp":
            given["p"] = p
        case(fam, {"max": "max_pool", "average": "average_pool", "lp": "lp_pool"}[kind], [x], T(x.dtype, y), **given)
    for kind in ("max", "average", "lp"):
        one(kind, f(1, 2, 5, 6), [2, 3], strides=[2, 1])
        one(kind, f(1, 2, 5, 6), [3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
        one(kind, f(2, 1, 9), [3], dil=[2], pads=[2, 1])
        one(kind, f(1, 1, 5), [2], strides=[2], ceil=1)
        one(kind, f(1, 1, 6, 6), [3, 3], strides=[2, 3], pads=[1, 0, 0, 1], ceil=1)
        one(kind, f(1, 1, 3, 4, 5), [2, 2, 2], strides=[1, 2, 2])
        one(kind, f(1, 1, 6), [3], strides=[2], pads=[0, 1], auto_pad="SAME_UPPER")
        one(kind, f(1, 1, 6), [3], strides=[2], pads=[1, 0], auto_pad="SAME_LOWER")
    one("average", f(1, 1, 6, 6), [3, 3], strides=[2, 2], pads=[1, 0, 0, 0], ceil=1, include=1)
    one("average", f(1, 1, 7), [3], pads=[1, 1], dil=[2], include=1)
    one("average", f(1, 1, 7), [3], pads=[1, 1], dil=[2])
    one("average", T("f32", np.ones((1, 1, 2, 2))), [2, 2], pads=[0, 0, 1, 1], include=1)
    one("lp", f(1, 2, 6), [3], strides=[2], pads=[1, 0], p=3)
    one("lp", f(1, 2, 6), [3], p=1)
    x = T("i32", -(np.arange(16).reshape(1, 1, 4, 4) + 1))
    case(fam, "max_pool", [x], T("i32", [[[[-1, -1, -2, -3], [-1, -1, -2, -3], [-5, -5, -6, -7], [-9, -9, -10, -11]]]]), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    case(fam, "max_pool", [T("i64", [[[-9223372036854775808, -5]]])], T("i64", [[[-9223372036854775808, -5, -5]]]), kernel_shape=[2], pads=[1, 1])
    # Positions count through the whole tensor.
    x = T("f32", np.asarray([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]], dtype=float).reshape(1, 1, 3, 4))
    case(fam, "max_pool", [x], [T("f32", [[[[9, 9, 6], [9, 9, 8]]]]), T("i64", [[[[5, 5, 7], [5, 5, 11]]]])], kernel_shape=[2, 2])
    case(fam, "max_pool", [x], [T("f32", [[[[9, 9, 6], [9, 9, 8]]]]), T("i64", [[[[4, 4, 10], [4, 4, 11]]]])], kernel_shape=[2, 2], storage_order=1)
    case(fam, "max_pool", [T("f32", [[[1, 2]], [[4, 3]]])], [T("f32", [[[1, 2, 2]], [[4, 4, 3]]]), T("i64", [[[0, 1, 1]], [[2, 2, 3]]])], kernel_shape=[2], pads=[1, 1])
    x = f(2, 3, 4, 5)
    case(fam, "global_average_pool", [x], T("f32", x.a.mean((2, 3), keepdims=True)))
    case(fam, "global_max_pool", [x], T("f32", x.a.max((2, 3), keepdims=True)))
    case(fam, "global_lp_pool", [x], T("f32", np.sqrt((x.a ** 2).sum((2, 3), keepdims=True))))
    case(fam, "global_lp_pool", [x], T("f32", np.abs(x.a).sum((2, 3), keepdims=True)), p=1)
    for shape, size in (((1, 2, 6, 7), [3, 3]), ((1, 2, 5), [7]), ((1, 1, 8), [4])):
        x = f(*shape)
        for op, fn in (("adaptive_average_pool", np.mean), ("adaptive_max_pool", np.max)):
            y = np.zeros(shape[:2] + tuple(size))
            for at in itertools.product(*map(range, size)):
                cut = tuple(slice(at[d] * shape[2 + d] // size[d], -(-(at[d] + 1) * shape[2 + d] // size[d])) for d in range(len(size)))
                y[(slice(None), slice(None)) + at] = fn(x.a[(slice(None), slice(None)) + cut], axis=tuple(range(2, 2 + len(size))))
            case(fam, op, [x], T("f32", y), output_size=size)


# ---------------------------------------------------------------------------------------------------------------- movement
def resize_reference(x, out, scale, mode, coordinate, nearest):
    def where(i, d):
        n, o, s = x.shape[d], out[d], scale[d]
        if coordinate == "half_pixel":
            return (i + 0.5) / s - 0.5
        if coordinate == "pytorch_half_pixel":
            return (i + 0.5) / s - 0.5 if o > 1 else 0.0
        if coordinate == "align_corners":
            return i * (n - 1) / (o - 1) if o > 1 else 0.0
        if coordinate == "half_pixel_symmetric":
            adjustment = o / (s * n)
            return n / 2 * (1 - adjustment) + (i + 0.5) / s - 0.5
        return i / s
    y = x
    for d in range(x.ndim):
        if out[d] == x.shape[d] and scale[d] == 1:
            continue
        slices = []
        for i in range(out[d]):
            t = where(i, d)
            if mode == "nearest":
                k = {"round_prefer_floor": math.ceil(t - 0.5 - 1e-12), "round_prefer_ceil": math.floor(t + 0.5 + 1e-12), "floor": math.floor(t + 1e-12), "ceil": math.ceil(t - 1e-12)}[nearest]
                slices.append(np.take(y, min(max(k, 0), x.shape[d] - 1), axis=d))
            else:
                k = math.floor(t + 1e-12)
                w = t - k
                lo, hi = (min(max(v, 0), x.shape[d] - 1) for v in (k, k + 1))
                slices.append(np.take(y, lo, axis=d) * (1 - w) + np.take(y, hi, axis=d) * w)
        y = np.stack(slices, axis=d)
    return y


def movement():
    fam = "movement"
    def same(op, x, y, **attrs):
        case(fam, op, [x], T(x.dtype, y), **attrs)
    x = f(2, 3, 4)
    same("transpose", x, x.a.transpose())
    same("transpose", x, x.a.transpose(1, 2, 0), perm=[1, 2, 0])
    for frm, to in (((6, 4), [24]), ((24,), [2, -1, 4]), ((4, 6), [3, 8]), ((2, 3, 4), [0, -1]), ((6,), [1, 6, 1]), ((2, 6, 5), [2, 2, 3, 5]), ((2, 3, 4), [4, 3, 2]), ((2, 12), [4, 6]),
                    ((3, 4, 5), [5, 12]), ((1, 6, 1, 4), [3, 2, 4]), ((30,), [2, 3, 5]), ((2, 3, 5), [30])):
        y = f(*frm)
        full = [frm[k] if t == 0 else t for k, t in enumerate(to)]
        same("reshape", y, y.a.reshape(full), shape=to)
    same("reshape", f(0, 4), np.zeros((2, 0)), shape=[2, 0], allowzero=1)
    same("flatten", x, x.a.reshape(2, 12))
    same("flatten", x, x.a.reshape(6, 4), axis=-1)
    same("flatten", x, x.a.reshape(1, 24), axis=0)
    same("flatten", x, x.a.reshape(24, 1), axis=3)
    y = f(1, 3, 1)
    same("squeeze", y, y.a.reshape(3))
    same("squeeze", y, y.a.reshape(1, 3), axes=[-1])
    same("unsqueeze", x, x.a.reshape(1, 2, 3, 1, 4), axes=[0, -2])
    y = f(5, 6)
    same("slice", y, y.a[1:4, 2:6], starts=[1, 2], ends=[4, 6])
    same("slice", y, y.a[::-2], starts=[-1], ends=[-100], axes=[-2], steps=[-2])
    same("slice", y, y.a[:, 1:1000:3], starts=[1], ends=[1000], axes=[1], steps=[3])
    same("slice", y, y.a[:, -3:-1], starts=[-3], ends=[-1], axes=[1])
    same("slice", y, y.a[3:1], starts=[3], ends=[1])
    same("slice", y, y.a[:, ::-1], starts=[9223372036854775807], ends=[-9223372036854775808], axes=[1], steps=[-1])
    a, b, c = f(2, 3), f(2, 1), f(2, 4)
    case(fam, "concat", [a, b, c], T("f32", np.concatenate([a.a, b.a, c.a], 1)), axis=-1)
    d = f(0, 3)
    case(fam, "concat", [a, d, a], T("f32", np.concatenate([a.a, d.a, a.a], 0)), axis=0)
    case(fam, "stack", [a, a, a], T("f32", np.stack([a.a] * 3)))
    case(fam, "stack", [a, a], T("f32", np.stack([a.a] * 2, axis=-1)), axis=-1)
    y = f(7, 3)
    case(fam, "split", [y], [T("f32", v) for v in (y.a[:3], y.a[3:6], y.a[6:])], num_outputs=3)
    case(fam, "split", [y], [T("f32", v) for v in (y.a[:, :1], y.a[:, 1:])], axis=-1, split=[1, 2])
    y = f(6)
    case(fam, "split", [y], [T("f32", y.a[:3]), T("f32", y.a[3:])])
    y = f(2, 4, 5)
    for k in (0, 1, -2):
        same("tril", y, np.tril(y.a, k), k=k)
        same("triu", y, np.triu(y.a, k), k=k)
        same("trilu", y, np.triu(y.a, k), k=k)
        same("trilu", y, np.tril(y.a, k), k=k, upper=0)
    y = f(3, 4)
    same("pad", y, np.pad(y.a, [(1, 2), (0, 1)]), pads=[1, 0, 2, 1])
    same("pad", y, np.pad(y.a[1:], [(0, 0), (1, 1)], constant_values=1.5), pads=[-1, 1, 0, 1], constant_value=1.5)
    same("pad", y, np.pad(y.a, [(2, 1), (1, 3)], mode="reflect"), pads=[2, 1, 1, 3], mode="reflect")
    same("pad", y, np.pad(y.a, [(0, 0), (2, 3)], mode="edge"), pads=[2, 3], axes=[-1], mode="edge")
    same("pad", y, np.pad(y.a, [(2, 4), (1, 5)], mode="wrap"), pads=[2, 1, 4, 5], mode="wrap")
    same("roll", y, np.roll(y.a, (-1, 5), (0, 1)), shifts=[-1, 5], axes=[0, -1])
    same("roll", f(0), np.zeros(0), shifts=[2])
    same("flip", y, np.flip(y.a))
    same("flip", y, np.flip(y.a, 1), axes=[-1])
    same("tile", y, np.tile(y.a, (2, 3)), repeats=[2, 3])
    same("tile", y, np.tile(y.a, (1, 0)), repeats=[1, 0])
    z = f(3, 1)
    same("expand", z, np.broadcast_to(z.a, (2, 3, 4)), shape=[2, 1, 4])
    same("expand", z, np.broadcast_to(z.a, (3, 4)), shape=[4])
    z = f(1, 8, 2, 3)
    t = z.a.reshape(1, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)
    same("depth_to_space", z, t, blocksize=2)
    t = z.a.reshape(1, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 6)
    same("depth_to_space", z, t, blocksize=2, mode="CRD")
    z = f(1, 3, 4, 6)
    same("space_to_depth", z, z.a.reshape(1, 3, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 12, 2, 3), blocksize=2)
    z = f(1, 2, 4, 5)
    zp = np.pad(z.a, [(0, 0), (0, 0), (1, 0), (0, 1)])
    rows, cols = zp.shape[2] - 1, zp.shape[3] - 2
    u = np.zeros((1, 12, rows * cols))
    for c_, r, s in itertools.product(range(2), range(2), range(3)):
        u[0, c_ * 6 + r * 3 + s] = zp[0, c_, r:r + rows, s:s + cols].reshape(-1)
    same("unfold", z, u, kernel_shape=[2, 3], pads=[1, 0, 0, 1])
    z = f(1, 1, 4)
    same("unfold", z, np.stack([np.append(z.a[0, 0, 1:], 0)[:4] if r else z.a[0, 0] for r in range(2)])[None], kernel_shape=[2], auto_pad="SAME_UPPER")
    z = f(1, 1, 9)
    u = np.stack([z.a[0, 0, r * 2: r * 2 + 5: 2] for r in range(3)])[None]
    same("unfold", z, u, kernel_shape=[3], dilations=[2], strides=[2])

    def resize(x, mode="nearest", coordinate="half_pixel", nearest="round_prefer_floor", sizes=None, scales=None, axes=None):
        ax = axes if axes is not None else list(range(x.a.ndim))
        out, scale = list(x.a.shape), [1.0] * x.a.ndim
        for k, d in enumerate(ax):
            out[d] = sizes[k] if sizes else int(math.floor(x.a.shape[d] * scales[k] + 1e-9))
            scale[d] = out[d] / x.a.shape[d] if sizes else scales[k]
        y = resize_reference(x.a, out, scale, mode, coordinate, nearest)
        attrs = {"mode": mode, "coordinate_transformation_mode": coordinate, "nearest_mode": nearest}
        if sizes:
            attrs["sizes"] = sizes
        else:
            attrs["scales"] = scales
        if axes is not None:
            attrs["axes"] = axes
        same("resize", x, y, **attrs)
    for coordinate in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
        resize(f(4, 6), "linear", coordinate, sizes=[7, 3])
        resize(f(2, 5), "linear", coordinate, scales=[2.0, 0.6], axes=[0, 1])
        for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            resize(f(5), "nearest", coordinate, nearest, sizes=[8])
            resize(f(6, 1), "nearest", coordinate, nearest, sizes=[4, 1])
    resize(f(1, 2, 3, 4), sizes=[1, 2, 5, 8])
    resize(f(1, 1, 3, 4), "linear", scales=[2.0, 2.0], axes=[2, 3])
    resize(f(3), "linear", sizes=[1])
    resize(f(3, dtype="bf16"), "linear", scales=[2.0])


# ---------------------------------------------------------------------------------------------------------------- gather
def gathers():
    fam = "gather"
    x, i = f(5, 3), T("i64", [4, -1, 0, -5])
    case(fam, "gather", [x, i], T("f32", x.a[i.a]))
    x, i = f(2, 5, 3), T("i32", [[0, -1], [3, 2]])
    case(fam, "gather", [x, i], T("f32", np.take(x.a, i.a, axis=1)), axis=-2)
    x = ints(7)
    case(fam, "gather", [x, T("i64", 3)], T("i32", x.a[3]))
    # Outside: wrapped once, then clamped.
    case(fam, "gather", [T("f32", [10, 11, 12, 13, 14]), T("i64", [4, -1, 5, 0, -6, 99])], T("f32", [14, 14, 14, 10, 10, 14]))
    x, i = f(5, 3), T("i64", [[0, -1, 2], [4, 1, -5]])
    case(fam, "gather_elements", [x, i], T("f32", np.take_along_axis(x.a, np.where(i.a < 0, i.a + 5, i.a), 0)))
    x, i = f(3, 4), ints(3, 6, low=0, high=3)
    case(fam, "gather_elements", [x, i], T("f32", np.take_along_axis(x.a, i.a, 1)), axis=-1)
    x, i = f(3, 4), T("i64", [[0, 1], [2, -1], [-3, 0]])
    case(fam, "gather_nd", [x, i], T("f32", x.a[i.a[:, 0], i.a[:, 1]]))
    x, i = f(3, 4, 2), T("i64", [[[0], [2]], [[1], [1]]])
    case(fam, "gather_nd", [x, i], T("f32", x.a[i.a[..., 0]]))
    x, i = f(2, 3, 4), T("i64", [[[0], [2]], [[1], [1]]])
    case(fam, "gather_nd", [x, i], T("f32", np.stack([x.a[n][i.a[n, :, 0]] for n in range(2)])), batch_dims=1)
    t, i = f(7, 4), T("i64", [[0, 6, 3], [2, 2, 1]])
    case(fam, "embedding", [i, t], T("f32", t.a[i.a]))
    case(fam, "embedding", [t, i], T("f32", t.a[i.a]))
    i = T("i64", [0, 3, -1, -4, 4, -5])
    hot = np.zeros((6, 4))
    for n, v in enumerate(i.a):
        if -4 <= v < 4:
            hot[n, v] = 1
    case(fam, "one_hot", [i], T("f32", hot), depth=4)
    case(fam, "one_hot", [i], T("i32", hot.T * 5 + 2), depth=4, axis=0, values=[2, 7], dtype="i32")
    for red in ("none", "add", "mul", "max", "min"):
        for shape, ishape, axis in (((3, 4), (2, 4), 0), ((3, 4), (2, 3), 1), ((5,), (4,), -1)):
            d, u = f(*shape), f(*ishape)
            n = shape[axis]
            i = ints(*ishape, dtype="i64", low=-n, high=n - 1)
            y = d.a.copy()
            for at in np.ndindex(*ishape):
                to = list(at)
                to[axis] = int(i.a[at]) % n
                to = tuple(to)
                y[to] = {"none": u.a[at], "add": y[to] + u.a[at], "mul": y[to] * u.a[at], "max": max(y[to], u.a[at]), "min": min(y[to], u.a[at])}[red]
            case(fam, "scatter_elements", [d, i, u], T("f32", y), axis=axis, reduction=red)
        for shape, ishape in (((4, 3), (2, 1)), ((4, 3), (5, 2)), ((4, 3), (2, 2, 2)), ((4,), (1,))):
            d = f(*shape)
            k = ishape[-1]
            i = T("i64", np.stack([rng.integers(-shape[c], shape[c], size=ishape[:-1]) for c in range(k)], axis=-1))
            u = f(*(ishape[:-1] + shape[k:]))
            y = d.a.copy()
            for at in np.ndindex(*ishape[:-1]):
                to = tuple(int(i.a[at + (c,)]) % shape[c] for c in range(k))
                y[to] = {"none": u.a[at], "add": y[to] + u.a[at], "mul": y[to] * u.a[at], "max": np.maximum(y[to], u.a[at]), "min": np.minimum(y[to], u.a[at])}[red]
            case(fam, "scatter_nd", [d, i, u], T("f32", y), reduction=red)


# ---------------------------------------------------------------------------------------------------------------- losses
def losses():
    fam = "loss"
    def reduced(v, how):
        return v if how == "none" else v.mean() if how == "mean" else v.sum()
    for how in ("none", "mean", "sum"):
        x, t = f(3, 4), f(3, 4)
        d = x.a - t.a
        case(fam, "mse_loss", [x, t], T("f32", reduced(d * d, how)), reduction=how)
        case(fam, "l1_loss", [x, t], T("f32", reduced(np.abs(d), how)), reduction=how)
        for delta in (1.0, 0.25):
            case(fam, "huber_loss", [x, t], T("f32", reduced(np.where(np.abs(d) <= delta, 0.5 * d * d, delta * (np.abs(d) - 0.5 * delta)), how)), reduction=how, delta=delta)
            case(fam, "smooth_l1_loss", [x, t], T("f32", reduced(np.where(np.abs(d) < delta, 0.5 * d * d / delta, np.abs(d) - 0.5 * delta), how)), reduction=how, beta=delta)
        s = T("f32", np.where(t.a >= 0, 1, -1))
        case(fam, "hinge_loss", [x, s], T("f32", reduced(np.maximum(0, 1 - x.a * s.a), how)), reduction=how)
        case(fam, "hinge_loss", [x, s], T("f32", reduced(np.maximum(0, 0.5 - x.a * s.a), how)), reduction=how, margin=0.5)
        p, q = T("f32", rng.integers(1, 8, size=(3, 4)) / 8.0), T("f32", rng.integers(0, 2, size=(3, 4)))
        case(fam, "binary_cross_entropy", [p, q], T("f32", reduced(-(q.a * np.log(p.a) + (1 - q.a) * np.log(1 - p.a)), how)), reduction=how)
        w = T("f32", rng.integers(0, 8, size=(3, 4)) / 8.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            kl = np.where(w.a > 0, w.a * (np.log(w.a) - x.a), 0)
        case(fam, "kl_div", [x, w], T("f32", reduced(kl, how)), reduction=how)
        case(fam, "kl_div", [x, t], T("f32", reduced(np.exp(t.a) * (t.a - x.a), how)), reduction=how, log_target=1)
        for shape in ((4, 3), (2, 3, 5)):
            sc, wt = f(*shape), pos(3)
            lab = ints(*(shape[:1] + shape[2:]), dtype="i64", low=0, high=2)
            lp = sc.a - np.log(np.exp(sc.a).sum(1, keepdims=True))
            for logs, op in ((lp, "softmax_cross_entropy_loss"), (sc.a, "negative_log_likelihood_loss")):
                picked = -np.take_along_axis(logs, np.expand_dims(lab.a, 1), 1).squeeze(1)
                case(fam, op, [sc, lab], T("f32", reduced(picked, how)), reduction=how)
                weights = wt.a[lab.a]
                for ignore in (None, 1):
                    ww = weights if ignore is None else np.where(lab.a == ignore, 0, weights)
                    value = ww * picked if how == "none" else (ww * picked).sum() / (ww.sum() if how == "mean" else 1)
                    extra = {} if ignore is None else {"ignore_index": ignore}
                    outs = [T("f32", value)]
                    if op.startswith("softmax"):
                        outs.append(T("f32", lp))
                    case(fam, op, [sc, lab, wt], outs, reduction=how, **extra)
        a, pp, nn = f(3, 4), f(3, 4), f(3, 4)
        for p_, swap, eps in ((2.0, 0, 1e-6), (1.0, 1, 1e-6), (3.0, 1, 0.5)):
            dist = lambda u, v: (np.abs(u.a - v.a + eps) ** p_).sum(-1) ** (1 / p_)
            neg = dist(a, nn)
            if swap:
                neg = np.minimum(neg, dist(pp, nn))
            case(fam, "triplet_margin_loss", [a, pp, nn], T("f32", reduced(np.maximum(dist(a, pp) - neg + 0.5, 0), how)), reduction=how, p=p_, swap=swap, margin=0.5, eps=eps)
    x, t = f(3, 4), f(3, 4)
    case(fam, "kl_div", [x, t], T("f32", (np.exp(t.a) * (t.a - x.a)).sum() / 3), reduction="batchmean", log_target=1)


# ---------------------------------------------------------------------------------------------------------------- attention
def attention_reference(q, k, v, mask=None, causal=False, scale=None, softcap=0.0):
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    s = q @ k.transpose(0, 1, 3, 2) * (scale if scale is not None else 1 / math.sqrt(q.shape[-1]))
    if mask is not None and mask.dtype != np.bool_:
        s = s + mask
    if softcap:
        s = softcap * np.tanh(s / softcap)
    if mask is not None and mask.dtype == np.bool_:
        s = np.where(mask, s, -np.inf)
    if causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], dtype=bool)), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ v


def attentions():
    fam = "attention"
    q, k, v = f(1, 2, 4, 3), f(1, 2, 5, 3), f(1, 2, 5, 2)
    case(fam, "attention", [q, k, v], T("f32", attention_reference(q.a, k.a, v.a)))
    q, k, v = f(1, 4, 4, 3), f(1, 2, 4, 3), f(1, 2, 4, 3)
    case(fam, "attention", [q, k, v], T("f32", attention_reference(q.a, k.a, v.a, causal=True, scale=0.5)), is_causal=1, scale=0.5)
    q, k, v, m = f(2, 2, 3, 4), f(2, 2, 3, 4), f(2, 2, 3, 4), f(3, 3)
    case(fam, "attention", [q, k, v, m], T("f32", attention_reference(q.a, k.a, v.a, m.a, softcap=2.0)), softcap=2.0)
    bm = T("bool", [[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    case(fam, "attention", [q, k, v, bm], T("f32", attention_reference(q.a, k.a, v.a, bm.a)))
    case(fam, "attention", [q, k, v, m], T("f32", attention_reference(q.a, k.a, v.a, m.a, causal=True)), is_causal=1)
    q, k, v = f(2, 3, 8), f(2, 5, 4), f(2, 5, 6)
    split = lambda t, h: t.a.reshape(2, t.a.shape[1], h, -1).transpose(0, 2, 1, 3)
    y = attention_reference(split(q, 4), split(k, 2), split(v, 2)).transpose(0, 2, 1, 3).reshape(2, 3, -1)
    case(fam, "attention", [q, k, v], T("f32", y), q_num_heads=4, kv_num_heads=2)

    def rotate(x, cos, sin, interleaved, dim):
        y = x.copy()
        r = x[..., :dim]
        c, s = cos[:, None], sin[:, None]
        a, b = (r[..., 0::2], r[..., 1::2]) if interleaved else (r[..., :dim // 2], r[..., dim // 2:])
        real, imag = a * c - b * s, a * s + b * c
        if interleaved:
            y[..., 0:dim:2], y[..., 1:dim:2] = real, imag
        else:
            y[..., :dim // 2], y[..., dim // 2:dim] = real, imag
        return y
    x, c, s = f(1, 2, 3, 4), f(1, 3, 2), f(1, 3, 2)
    case(fam, "rotary_embedding", [x, c, s], T("f32", rotate(x.a, c.a, s.a, False, 4)))
    case(fam, "rotary_embedding", [x, c, s], T("f32", rotate(x.a, c.a, s.a, True, 4)), interleaved=1)
    x, c, s, i = f(2, 2, 3, 6), f(9, 2), f(9, 2), ints(2, 3, dtype="i64", low=0, high=8)
    for inter in (0, 1):
        case(fam, "rotary_embedding", [x, c, s, i], T("f32", rotate(x.a, c.a[i.a], s.a[i.a], inter, 4)), interleaved=inter, rotary_embedding_dim=4)
    x = f(2, 3, 8)
    h = x.a.reshape(2, 3, 2, 4).transpose(0, 2, 1, 3)
    for inter in (0, 1):
        y = rotate(h, c.a[i.a], s.a[i.a], inter, 4).transpose(0, 2, 1, 3).reshape(2, 3, 8)
        case(fam, "rotary_embedding", [x, c, s, i], T("f32", y), num_heads=2, interleaved=inter)


# ---------------------------------------------------------------------------------------------------------------- recurrent
def recurrents():
    fam = "recurrent"
    S, N, I, H = 3, 2, 3, 2
    def run(kind, direction="forward", layout=0, lens=None, initial=False, peep=False, bias=True, lbr=0, input_forget=0, clip=None, activations=None):
        functions = {"Sigmoid": sigmoid, "Tanh": np.tanh, "Relu": lambda v: np.maximum(v, 0), "Softsign": lambda v: v / (1 + np.abs(v)), "Softplus": softplus}
        names = activations or {"rnn": ["Tanh"], "gru": ["Sigmoid", "Tanh"], "lstm": ["Sigmoid", "Tanh", "Tanh"]}[kind]
        act = [functions[n] for n in names]
        gates = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
        D = 2 if direction == "bidirectional" else 1
        x, w, r = f(S, N, I, low=-8, high=8), f(D, gates * H, I, low=-4, high=4), f(D, gates * H, H, low=-4, high=4)
        b = f(D, 2 * gates * H, low=-4, high=4) if bias else None
        h0 = f(D, N, H, low=-4, high=4) if initial else None
        c0 = f(D, N, H, low=-4, high=4) if initial and kind == "lstm" else None
        p = f(D, 3 * H, low=-4, high=4) if peep else None
        ys, hs, cs = np.zeros((S, D, N, H)), np.zeros((D, N, H)), np.zeros((D, N, H))
        cl = (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
        for d in range(D):
            W, R = w.a[d], r.a[d]
            wb, rb = (b.a[d][:gates * H], b.a[d][gates * H:]) if bias else (np.zeros(gates * H),) * 2
            for n in range(N):
                h = h0.a[d, n] if initial else np.zeros(H)
                c = c0.a[d, n] if c0 is not None else np.zeros(H)
                length = S if lens is None else lens[n]
                order = range(length)
                if direction == "reverse" or d == 1:
                    order = reversed(order)
                for t in order:
                    g = W @ x.a[t, n] + wb
                    if kind == "rnn":
                        h = act[0](cl(g + R @ h + rb))
                    elif kind == "gru":
                        z = act[0](cl(g[:H] + R[:H] @ h + rb[:H]))
                        rr = act[0](cl(g[H:2 * H] + R[H:2 * H] @ h + rb[H:2 * H]))
                        hh = rr * (R[2 * H:] @ h + rb[2 * H:]) if lbr else R[2 * H:] @ (rr * h) + rb[2 * H:]
                        h = (1 - z) * act[1](cl(g[2 * H:] + hh)) + z * h
                    else:
                        g = g + R @ h + rb
                        pi, po, pf = (p.a[d][:H], p.a[d][H:2 * H], p.a[d][2 * H:]) if peep else (np.zeros(H),) * 3
                        i_ = act[0](cl(g[:H] + pi * c))
                        f_ = 1 - i_ if input_forget else act[0](cl(g[2 * H:3 * H] + pf * c))
                        c = f_ * c + i_ * act[1](cl(g[3 * H:]))
                        h = act[0](cl(g[H:2 * H] + po * c)) * act[2](c)
                    ys[t, d, n] = h
                hs[d, n], cs[d, n] = h, c
        operands = [x, w, r, b, None if lens is None else T("i32", lens), h0, c0, p]
        if layout:
            operands[0] = T("f32", x.a.transpose(1, 0, 2))
            operands[5] = h0 and T("f32", h0.a.transpose(1, 0, 2))
            operands[6] = c0 and T("f32", c0.a.transpose(1, 0, 2))
            ys, hs, cs = ys.transpose(2, 0, 1, 3), hs.transpose(1, 0, 2), cs.transpose(1, 0, 2)
        while operands[-1] is None:
            operands.pop()
        attrs = {}
        for name, value, default in (("direction", direction, "forward"), ("layout", layout, 0), ("linear_before_reset", lbr, 0), ("input_forget", input_forget, 0), ("clip", clip, None), ("activations", activations, None)):
            if value != default:
                attrs[name] = value
        case(fam, kind, operands, [T("f32", ys), T("f32", hs)] + ([T("f32", cs)] if kind == "lstm" else []), hidden_size=H, **attrs)
    for kind in ("rnn", "gru", "lstm"):
        run(kind)
        run(kind, bias=False)
        run(kind, "reverse", initial=True)
        run(kind, "bidirectional", layout=1, initial=True)
        run(kind, "bidirectional", lens=[3, 1])
        run(kind, clip=0.5)
    run("rnn", activations=["Relu"])
    run("gru", activations=["Softsign", "Softplus"])
    run("lstm", activations=["Tanh", "Relu", "Sigmoid"])
    run("gru", lbr=1, initial=True)
    run("gru", lbr=1, bias=False)
    run("lstm", peep=True, initial=True)
    run("lstm", input_forget=1, initial=True)


def dropouts():
    fam = "random"
    M = (1 << 64) - 1
    def keep(n, seed, ratio):
        z = (seed + (n + 1) * 0x9E3779B97F4A7C15) & M
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M
        z ^= z >> 31
        return (z >> 11) * 2.0 ** -53 >= ratio
    x = f(5, 7)
    case(fam, "dropout", [x], [x, T("bool", np.ones((5, 7)))])
    for seed, ratio in ((0, 0.5), (42, 0.25), (-7, 0.75)):
        k = np.asarray([keep(n, seed, ratio) for n in range(35)]).reshape(5, 7)
        case(fam, "dropout", [x], [T("f32", np.where(k, x.a / (1 - ratio), 0)), T("bool", k)], training_mode=1, seed=seed, ratio=ratio)


def main():
    for make in (elementwise, activations, contractions, convolutions, reductions, normalizations, pools, movement, gathers, losses, attentions, recurrents, dropouts):
        make()
    os.makedirs(OUT, exist_ok=True)
    total = 0
    for family, rows in sorted(cases.items()):
        text = "[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]\n"
        total += len(text)
        with open(os.path.join(OUT, family + ".json"), "w", encoding="utf-8") as out:
            out.write(text)
    print("%d cases, %d operators, %d bytes" % (sum(map(len, cases.values())), len({r["op"] for rows in cases.values() for r in rows}), total))
    return 0


if __name__ == "__main__":
    sys.exit(main())
