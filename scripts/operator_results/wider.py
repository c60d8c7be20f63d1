"""Attributes that came later: a cache of keys and values, resize by kernels, stacked recurrent layers, einsum of many operands."""
import math

import numpy as np

from common import T, case, f, sigmoid


def attention_with_cache(q, k, v, past_k=None, past_v=None, mask=None, causal=False, scale=None, softcap=0.0, mode=0):
    past = 0 if past_k is None else past_k.shape[2]
    keys = k if past_k is None else np.concatenate([past_k, k], axis=2)
    values = v if past_v is None else np.concatenate([past_v, v], axis=2)
    group = q.shape[1] // k.shape[1]
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    n, h, rows, cols = q.shape[0], q.shape[1], q.shape[2], keys.shape[2]
    y, seen_at = np.zeros((n, h, rows, values.shape[3])), np.zeros((4, n, h, rows, cols))
    full = None if mask is None else np.broadcast_to(mask, (n, h, rows, cols))
    for b in range(n):
        for head in range(h):
            for i in range(rows):
                scores = []
                for t in range(cols):
                    s = scale * float(q[b, head, i] @ keys[b, head // group, t])
                    seen_at[0, b, head, i, t] = s
                    hidden = (causal and t > i + past) or (full is not None and full.dtype == np.bool_ and not full[b, head, i, t])
                    if full is not None and full.dtype != np.bool_:
                        s += full[b, head, i, t]
                    seen_at[1, b, head, i, t] = -np.inf if hidden else s
                    if softcap:
                        s = softcap * math.tanh(s / softcap)
                    seen_at[2, b, head, i, t] = -np.inf if hidden else s
                    scores.append(-np.inf if hidden else s)
                e = np.exp(np.array(scores) - max(scores))
                seen_at[3, b, head, i] = e / e.sum()
                y[b, head, i] = (e / e.sum()) @ values[b, head // group]
    return y, keys, values, seen_at[mode]


def caches():
    fam = "attention"

    def tensors(*results):
        return [T("f32", r) for r in results]
    q, k, v, pk, pv = f(2, 4, 3, 2), f(2, 2, 3, 2), f(2, 2, 3, 3), f(2, 2, 4, 2), f(2, 2, 4, 3)
    case(fam, "attention", [q, k, v, None, pk, pv], tensors(*attention_with_cache(q.a, k.a, v.a, pk.a, pv.a)[:3]))
    for mode in range(4):
        r = attention_with_cache(q.a, k.a, v.a, pk.a, pv.a, causal=True, scale=0.75, softcap=1.5, mode=mode)
        case(fam, "attention", [q, k, v, None, pk, pv], tensors(*r), is_causal=1, scale=0.75, softcap=1.5, qk_matmul_output_mode=mode)
    m, bm = f(3, 7), T("bool", np.tril(np.ones((1, 1, 3, 7)), k=2))
    for mode in range(4):
        case(fam, "attention", [q, k, v, m, pk, pv], tensors(*attention_with_cache(q.a, k.a, v.a, pk.a, pv.a, m.a, mode=mode)), qk_matmul_output_mode=mode)
        case(fam, "attention", [q, k, v, bm, pk, pv], tensors(*attention_with_cache(q.a, k.a, v.a, pk.a, pv.a, bm.a, mode=mode)), qk_matmul_output_mode=mode)
    y, _, _, s = attention_with_cache(q.a, k.a, v.a, mode=3)
    case(fam, "attention", [q, k, v], [T("f32", y), None, None, T("f32", s)], qk_matmul_output_mode=3, softmax_precision="f64")
    q3, k3, v3 = f(2, 3, 8), f(2, 5, 4), f(2, 5, 6)
    split = lambda t, h: t.a.reshape(2, t.a.shape[1], h, -1).transpose(0, 2, 1, 3)
    pk, pv = f(2, 2, 1, 2), f(2, 2, 1, 3)
    y, keys, values, s = attention_with_cache(split(q3, 4), split(k3, 2), split(v3, 2), pk.a, pv.a, causal=True, mode=3)
    case(fam, "attention", [q3, k3, v3, None, pk, pv], tensors(y.transpose(0, 2, 1, 3).reshape(2, 3, -1), keys, values, s), q_num_heads=4, kv_num_heads=2,
         is_causal=1, qk_matmul_output_mode=3)


def position(i, n, o, scale, coordinate, roi):
    if coordinate == "tf_crop_and_resize":
        return roi[0] * (n - 1) + i * (roi[1] - roi[0]) * (n - 1) / (o - 1) if o > 1 else 0.5 * (roi[0] + roi[1]) * (n - 1)
    if coordinate == "align_corners":
        return i * (n - 1) / (o - 1) if o > 1 else 0.0
    if coordinate == "asymmetric":
        return i / scale
    if coordinate == "pytorch_half_pixel" and o <= 1:
        return 0.0
    shift = n / 2 * (1 - o / (scale * n)) if coordinate == "half_pixel_symmetric" else 0.0
    return shift + (i + 0.5) / scale - 0.5


def kernel(mode, t, a):
    t = abs(t)
    if mode == "linear":
        return max(0.0, 1 - t)
    if t <= 1:
        return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
    return a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0.0


def matrix(n, o, scale, mode, coordinate, a, exclude, antialias, roi):
    """Rows of weights: output = matrix @ input along the axis; and which outputs lie inside."""
    m, inside = np.zeros((o, n)), np.ones(o, dtype=bool)
    s = min(scale, 1.0) if antialias else 1.0
    for i in range(o):
        x = position(i, n, o, scale, coordinate, roi)
        inside[i] = coordinate != "tf_crop_and_resize" or -1e-9 <= x <= n - 1 + 1e-9
        reach = int(math.ceil((2 if mode == "cubic" else 1) / s)) + 1
        base = math.floor(x + 1e-12)
        for j in range(base - reach, base + reach + 1):
            if exclude and not 0 <= j < n:
                continue
            m[i, min(max(j, 0), n - 1)] += kernel(mode, s * (j - x), a)
        if exclude or antialias:
            m[i] /= m[i].sum()
    return m, inside


def kernels():
    def resize(x, mode, coordinate="half_pixel", sizes=None, scales=None, axes=None, a=-0.75, exclude=0, antialias=0, roi=None, fill=0.0, policy="stretch"):
        ax = axes if axes is not None else list(range(x.a.ndim))
        y, outside = x.a, np.zeros((1,) * x.a.ndim, dtype=bool)
        if policy != "stretch":
            ratios = [sizes[k] / x.a.shape[d] for k, d in enumerate(ax)]
            one = min(ratios) if policy == "not_larger" else max(ratios)
        for k, d in enumerate(ax):
            n = x.a.shape[d]
            o = sizes[k] if sizes else int(math.floor(n * scales[k] + 1e-9))
            scale = o / n if sizes else scales[k]
            if policy != "stretch":
                o, scale = int(math.floor(one * n + 0.5)), one
            m, inside = matrix(n, o, scale, mode, coordinate, a, exclude, antialias, (roi[k], roi[len(ax) + k]) if roi else None)
            y = np.moveaxis(np.tensordot(m, y, axes=(1, d)), 0, d)
            outside = outside | ~inside.reshape([-1 if e == d else 1 for e in range(x.a.ndim)])
        y = np.where(outside, fill, y)
        attrs = {"mode": mode, "coordinate_transformation_mode": coordinate}
        for name, value, default in (("sizes", sizes, None), ("scales", scales, None), ("axes", axes, None), ("cubic_coeff_a", a, -0.75), ("exclude_outside", exclude, 0),
                                     ("antialias", antialias, 0), ("roi", roi, None), ("extrapolation_value", fill, 0.0), ("keep_aspect_ratio_policy", policy, "stretch")):
            if value != default:
                attrs[name] = value
        case("movement", "resize", [x], T(x.dtype, y), **attrs)
    for coordinate in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
        resize(f(4, 6), "cubic", coordinate, sizes=[7, 3])
        resize(f(2, 5), "cubic", coordinate, scales=[2.5, 0.6], a=-0.5)
        resize(f(5, 4), "cubic", coordinate, sizes=[8, 1], exclude=1)
        resize(f(7, 5), "linear", coordinate, sizes=[3, 9], exclude=1)
        resize(f(9, 4), "linear", coordinate, sizes=[4, 7], antialias=1)
        resize(f(2, 9, 7), "cubic", coordinate, sizes=[4, 3], axes=[1, 2], antialias=1, exclude=1)
    resize(f(7), "cubic", scales=[0.4], antialias=1, a=-0.5)
    resize(f(6, dtype="f64"), "cubic", scales=[0.5], antialias=1)
    resize(f(6, dtype="f16"), "cubic", scales=[1.5])
    for mode in ("linear", "cubic"):
        resize(f(5, 6), mode, "tf_crop_and_resize", sizes=[4, 5], roi=[0.25, -0.25, 0.75, 1.25], fill=2.5)
        resize(f(3, 5, 6), mode, "tf_crop_and_resize", sizes=[1, 3], axes=[1, 2], roi=[0.5, 1.0, 1.0, 0.0], fill=-1.5)
        for policy in ("not_larger", "not_smaller"):
            resize(f(4, 6), mode, sizes=[7, 8], policy=policy)


def cell(kind, x, h, c, w, r, wb, rb):
    n = len(h)
    if kind == "rnn":
        return np.tanh(w @ x + wb + r @ h + rb), c
    if kind == "gru":
        g = w @ x + wb
        z, reset = sigmoid(g[:n] + r[:n] @ h + rb[:n]), sigmoid(g[n:2 * n] + r[n:2 * n] @ h + rb[n:2 * n])
        return (1 - z) * np.tanh(g[2 * n:] + r[2 * n:] @ (reset * h) + rb[2 * n:]) + z * h, c
    g = w @ x + wb + r @ h + rb
    c = sigmoid(g[2 * n:3 * n]) * c + sigmoid(g[:n]) * np.tanh(g[3 * n:])
    return sigmoid(g[n:2 * n]) * np.tanh(c), c


def layers():
    steps, batch, features, hidden = 3, 2, 3, 2

    def stacked(kind, count, direction="forward", layout=0, lens=None, bias=True, initial=False):
        gates, dirs = {"rnn": 1, "gru": 3, "lstm": 4}[kind], 2 if direction == "bidirectional" else 1
        lanes = count * dirs
        x, w, r = f(steps, batch, features, low=-8, high=8), f(dirs, gates * hidden, features, low=-4, high=4), f(lanes, gates * hidden, hidden, low=-4, high=4)
        deep = f((count - 1) * dirs, gates * hidden, dirs * hidden, low=-4, high=4)
        b = f(lanes, 2 * gates * hidden, low=-4, high=4) if bias else None
        h0 = f(lanes, batch, hidden, low=-4, high=4) if initial else None
        c0 = f(lanes, batch, hidden, low=-4, high=4) if initial and kind == "lstm" else None
        hs, cs = np.zeros((lanes, batch, hidden)), np.zeros((lanes, batch, hidden))
        below = x.a
        for layer in range(count):
            ys = np.zeros((steps, dirs, batch, hidden))
            for d in range(dirs):
                lane = layer * dirs + d
                weights = w.a[d] if layer == 0 else deep.a[lane - dirs]
                both = b.a[lane] if bias else np.zeros(2 * gates * hidden)
                for n in range(batch):
                    h = h0.a[lane, n] if initial else np.zeros(hidden)
                    c = c0.a[lane, n] if c0 is not None else np.zeros(hidden)
                    order = list(range(steps if lens is None else lens[n]))
                    for t in reversed(order) if direction == "reverse" or d == 1 else order:
                        h, c = cell(kind, below[t, n], h, c, weights, r.a[lane], both[:gates * hidden], both[gates * hidden:])
                        ys[t, d, n] = h
                    hs[lane, n], cs[lane, n] = h, c
            below = np.concatenate([ys[:, d] for d in range(dirs)], axis=-1)
        flip = lambda t: None if t is None else T("f32", t.a.transpose(1, 0, 2)) if layout else t
        operands = [flip(x), w, r, b, None if lens is None else T("i32", lens), flip(h0)] + ([flip(c0), None] if kind == "lstm" else []) + [deep]
        outs = [T("f32", ys.transpose(2, 0, 1, 3) if layout else ys), flip(T("f32", hs))] + ([flip(T("f32", cs))] if kind == "lstm" else [])
        attrs = {"layers": count}
        if direction != "forward":
            attrs["direction"] = direction
        if layout:
            attrs["layout"] = 1
        case("recurrent", kind, operands, outs, **attrs)
    for kind in ("rnn", "gru", "lstm"):
        stacked(kind, 2)
        stacked(kind, 3, "reverse", bias=False)
        stacked(kind, 2, "bidirectional", layout=1, initial=True)
        stacked(kind, 2, "bidirectional", lens=[3, 1])


def many_operands():
    dims = dict(zip("abcdefghij", (2, 3, 4, 2, 3, 2, 3, 2, 4, 3)))
    equation = "ab,bc,cd,de,ef,fg,gh,hi,i,h,ij,j->a"
    operands = [f(*[dims[i] for i in term], low=-4, high=4) for term in equation.split("->")[0].split(",")]
    case("contraction", "einsum", operands, T("f32", np.einsum(equation, *[o.a for o in operands])), equation=equation)
    operands = [f(2, 1), f(3)] + [f(2, 3) for _ in range(9)]
    case("elementwise", "sum", operands, T("f32", sum(o.a for o in operands)))
    case("elementwise", "mean", operands, T("f32", sum(o.a for o in operands) / len(operands)))
    case("elementwise", "max", operands, T("f32", np.max([np.broadcast_to(o.a, (2, 3)) for o in operands], axis=0)))
    parts = [f(2, n % 3) for n in range(12)]
    case("movement", "concat", parts, T("f32", np.concatenate([p.a for p in parts], axis=-1)), axis=-1)
