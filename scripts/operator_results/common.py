"""What all families share: tensors with Facet dtypes, seeded inputs, the list of cases."""
import math

import numpy as np

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
