"""Reductions, softmax, scans, selections and normalizations."""
import itertools
import math

import numpy as np

from common import T, bools, case, f, ints, pos


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
