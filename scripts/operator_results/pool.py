"""Pools."""
import itertools

import numpy as np

from common import T, case, f


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
