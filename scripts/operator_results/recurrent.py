"""Recurrent layers."""
import numpy as np

from common import T, case, f, sigmoid, softplus


S, N, I, H = 3, 2, 3, 2
FAMILY = "recurrent"
PLAIN = {"Sigmoid": sigmoid, "Tanh": np.tanh, "Relu": lambda v: np.maximum(v, 0), "Softsign": lambda v: v / (1 + np.abs(v)), "Softplus": softplus}
WITH_ALPHA = {"LeakyRelu": (0.01, lambda a: lambda v: np.where(v < 0, a * v, v)), "ThresholdedRelu": (1.0, lambda a: lambda v: np.where(v > a, v, 0)),
              "Elu": (1.0, lambda a: lambda v: np.where(v < 0, a * np.expm1(v), v))}
WITH_BOTH = {"Affine": (1.0, 0.0, lambda a, b: lambda v: a * v + b), "ScaledTanh": (1.0, 1.0, lambda a, b: lambda v: a * np.tanh(b * v)),
             "HardSigmoid": (0.2, 0.5, lambda a, b: lambda v: np.clip(a * v + b, 0, 1))}


def functions_of(names, alpha, beta):
    """The numbers go to the functions that take them, in order; then defaults."""
    alphas, betas, result = list(alpha or []), list(beta or []), []
    for name in names:
        if name in PLAIN:
            result.append(PLAIN[name])
        elif name in WITH_ALPHA:
            default, make = WITH_ALPHA[name]
            result.append(make(alphas.pop(0) if alphas else default))
        else:
            a, b, make = WITH_BOTH[name]
            a = alphas.pop(0) if alphas else a
            result.append(make(a, betas.pop(0) if betas else b))
    return result


def run(kind, direction="forward", layout=0, lens=None, initial=False, peep=False, bias=True, lbr=0, input_forget=0, clip=None, activations=None, alpha=None, beta=None):
    names = activations or {"rnn": ["Tanh"], "gru": ["Sigmoid", "Tanh"], "lstm": ["Sigmoid", "Tanh", "Tanh"]}[kind]
    act = functions_of(names, alpha, beta)
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
    D = 2 if direction == "bidirectional" else 1
    per = len(act) // D if activations else 0  # activations of the second direction follow those of the first
    x, w, r = f(S, N, I, low=-8, high=8), f(D, gates * H, I, low=-4, high=4), f(D, gates * H, H, low=-4, high=4)
    b = f(D, 2 * gates * H, low=-4, high=4) if bias else None
    h0 = f(D, N, H, low=-4, high=4) if initial else None
    c0 = f(D, N, H, low=-4, high=4) if initial and kind == "lstm" else None
    p = f(D, 3 * H, low=-4, high=4) if peep else None
    ys, hs, cs = np.zeros((S, D, N, H)), np.zeros((D, N, H)), np.zeros((D, N, H))
    cl = (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
    for d in range(D):
        W, R = w.a[d], r.a[d]
        mine = act[d * per:]
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
                    h = mine[0](cl(g + R @ h + rb))
                elif kind == "gru":
                    z = mine[0](cl(g[:H] + R[:H] @ h + rb[:H]))
                    rr = mine[0](cl(g[H:2 * H] + R[H:2 * H] @ h + rb[H:2 * H]))
                    hh = rr * (R[2 * H:] @ h + rb[2 * H:]) if lbr else R[2 * H:] @ (rr * h) + rb[2 * H:]
                    h = (1 - z) * mine[1](cl(g[2 * H:] + hh)) + z * h
                else:
                    g = g + R @ h + rb
                    pi, po, pf = (p.a[d][:H], p.a[d][H:2 * H], p.a[d][2 * H:]) if peep else (np.zeros(H),) * 3
                    i_ = mine[0](cl(g[:H] + pi * c))
                    f_ = 1 - i_ if input_forget else mine[0](cl(g[2 * H:3 * H] + pf * c))
                    c = f_ * c + i_ * mine[1](cl(g[3 * H:]))
                    h = mine[0](cl(g[H:2 * H] + po * c)) * mine[2](c)
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
    for name, value, default in (("direction", direction, "forward"), ("layout", layout, 0), ("linear_before_reset", lbr, 0), ("input_forget", input_forget, 0), ("clip", clip, None), ("activations", activations, None),
                                 ("activation_alpha", alpha, None), ("activation_beta", beta, None)):
        if value != default:
            attrs[name] = value
    case(FAMILY, kind, operands, [T("f32", ys), T("f32", hs)] + ([T("f32", cs)] if kind == "lstm" else []), hidden_size=H, **attrs)


def recurrents():
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
