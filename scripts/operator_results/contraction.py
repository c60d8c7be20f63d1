"""Contractions and convolutions."""
import itertools

import numpy as np

from common import T, case, f, ints


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
