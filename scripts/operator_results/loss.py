"""Losses."""
import numpy as np

from common import T, case, f, ints, pos, rng


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
