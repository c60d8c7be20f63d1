"""Dropout."""
import numpy as np

from common import T, case, f


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
