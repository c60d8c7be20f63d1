"""Movement and resize."""
import itertools
import math

import numpy as np

from common import T, case, f


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
