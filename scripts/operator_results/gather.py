"""Gathers and scatters."""
import numpy as np

from common import T, case, f, ints, rng


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
