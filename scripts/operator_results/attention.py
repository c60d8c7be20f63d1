"""Attention and rotary embedding."""
import math

import numpy as np

from common import T, case, f, ints


def attention_reference(q, k, v, mask=None, causal=False, scale=None, softcap=0.0):
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    s = q @ k.transpose(0, 1, 3, 2) * (scale if scale is not None else 1 / math.sqrt(q.shape[-1]))
    if mask is not None and mask.dtype != np.bool_:
        s = s + mask
    if softcap:
        s = softcap * np.tanh(s / softcap)
    if mask is not None and mask.dtype == np.bool_:
        s = np.where(mask, s, -np.inf)
    if causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], dtype=bool)), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ v


def attentions():
    fam = "attention"
    q, k, v = f(1, 2, 4, 3), f(1, 2, 5, 3), f(1, 2, 5, 2)
    case(fam, "attention", [q, k, v], T("f32", attention_reference(q.a, k.a, v.a)))
    q, k, v = f(1, 4, 4, 3), f(1, 2, 4, 3), f(1, 2, 4, 3)
    case(fam, "attention", [q, k, v], T("f32", attention_reference(q.a, k.a, v.a, causal=True, scale=0.5)), is_causal=1, scale=0.5)
    q, k, v, m = f(2, 2, 3, 4), f(2, 2, 3, 4), f(2, 2, 3, 4), f(3, 3)
    case(fam, "attention", [q, k, v, m], T("f32", attention_reference(q.a, k.a, v.a, m.a, softcap=2.0)), softcap=2.0)
    bm = T("bool", [[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    case(fam, "attention", [q, k, v, bm], T("f32", attention_reference(q.a, k.a, v.a, bm.a)))
    case(fam, "attention", [q, k, v, m], T("f32", attention_reference(q.a, k.a, v.a, m.a, causal=True)), is_causal=1)
    q, k, v = f(2, 3, 8), f(2, 5, 4), f(2, 5, 6)
    split = lambda t, h: t.a.reshape(2, t.a.shape[1], h, -1).transpose(0, 2, 1, 3)
    y = attention_reference(split(q, 4), split(k, 2), split(v, 2)).transpose(0, 2, 1, 3).reshape(2, 3, -1)
    case(fam, "attention", [q, k, v], T("f32", y), q_num_heads=4, kv_num_heads=2)

    def rotate(x, cos, sin, interleaved, dim):
        y = x.copy()
        r = x[..., :dim]
        c, s = cos[:, None], sin[:, None]
        a, b = (r[..., 0::2], r[..., 1::2]) if interleaved else (r[..., :dim // 2], r[..., dim // 2:])
        real, imag = a * c - b * s, a * s + b * c
        if interleaved:
            y[..., 0:dim:2], y[..., 1:dim:2] = real, imag
        else:
            y[..., :dim // 2], y[..., dim // 2:dim] = real, imag
        return y
    x, c, s = f(1, 2, 3, 4), f(1, 3, 2), f(1, 3, 2)
    case(fam, "rotary_embedding", [x, c, s], T("f32", rotate(x.a, c.a, s.a, False, 4)))
    case(fam, "rotary_embedding", [x, c, s], T("f32", rotate(x.a, c.a, s.a, True, 4)), interleaved=1)
    x, c, s, i = f(2, 2, 3, 6), f(9, 2), f(9, 2), ints(2, 3, dtype="i64", low=0, high=8)
    for inter in (0, 1):
        case(fam, "rotary_embedding", [x, c, s, i], T("f32", rotate(x.a, c.a[i.a], s.a[i.a], inter, 4)), interleaved=inter, rotary_embedding_dim=4)
    x = f(2, 3, 8)
    h = x.a.reshape(2, 3, 2, 4).transpose(0, 2, 1, 3)
    for inter in (0, 1):
        y = rotate(h, c.a[i.a], s.a[i.a], inter, 4).transpose(0, 2, 1, 3).reshape(2, 3, 8)
        case(fam, "rotary_embedding", [x, c, s, i], T("f32", y), num_heads=2, interleaved=inter)
