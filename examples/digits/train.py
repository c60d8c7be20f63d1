"""Trains the two digit classifiers of this folder's neighbours with numpy alone, and reports on images never trained on.

Data: the UCI optical digits test set as scikit-learn ships it (see README.md), 1797 images of 8x8 pixels in 0..16.
Split: a permutation with a fixed seed; the first 1197 images train, the other 600 are only ever looked at for the report.
Nothing was chosen by them: epochs and augmentation were settled on 250 of the 1197, then fixed below.

    python3 -m venv venv && venv/bin/pip install numpy scikit-learn && venv/bin/python examples/digits/train.py

writes test_images.npy (u8 [600, 64]), test_labels.npy (u8 [600]) here, and the weights (f32) into
../07_digits_mlp/weights and ../08_digits_cnn/weights.
"""
import os

import numpy as np
from sklearn.datasets import load_digits

HERE = os.path.dirname(os.path.abspath(__file__))
SPLIT_SEED, TRAIN_SEED, TRAIN_COUNT = 20260101, 7, 1197
BATCH, RATE, DECAY = 64, 1e-3, 1e-3   # Adam with decoupled weight decay; the rate falls as a cosine


def load_split():
    digits = load_digits()
    images, labels = digits.data.astype(np.uint8), digits.target.astype(np.uint8)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(images))
    train, test = order[:TRAIN_COUNT], order[TRAIN_COUNT:]
    return images[train], labels[train], images[test], labels[test]


def shifted(images, generator):
    """Half of the images moved by up to one pixel in each direction, the free border filled with zeros."""
    padded = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    dy, dx = generator.integers(0, 3, len(images)), generator.integers(0, 3, len(images))
    still = generator.random(len(images)) < 0.5
    dy[still] = dx[still] = 1
    rows, columns = dy[:, None] + np.arange(8), dx[:, None] + np.arange(8)
    return padded[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]].reshape(-1, 64)


class Adam:
    def __init__(self, parameters):
        self.parameters, self.step = parameters, 0
        self.mean = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.square = {name: np.zeros_like(value) for name, value in parameters.items()}

    def update(self, gradients, rate):
        self.step += 1
        for name, gradient in gradients.items():
            self.mean[name] = 0.9 * self.mean[name] + 0.1 * gradient
            self.square[name] = 0.999 * self.square[name] + 0.001 * gradient * gradient
            mean = self.mean[name] / (1 - 0.9 ** self.step)
            square = self.square[name] / (1 - 0.999 ** self.step)
            value = self.parameters[name]
            decay = DECAY * value if value.ndim > 1 else 0
            value -= (rate * (mean / (np.sqrt(square) + 1e-8) + decay)).astype(np.float32)


def weight(generator, *shape):
    """He's initialisation; all axes but the last (matrices) or the first (convolutions) are summed over."""
    fan_in = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
    return (generator.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class Mlp:
    """64 -> 256 -> 256 -> 10 with relu."""
    epochs = 200

    def __init__(self, generator):
        self.parameters = {"w1": weight(generator, 64, 256), "b1": np.zeros(256, np.float32),
                           "w2": weight(generator, 256, 256), "b2": np.zeros(256, np.float32),
                           "w3": weight(generator, 256, 10), "b3": np.zeros(10, np.float32)}

    def forward(self, x):
        p = self.parameters
        h1 = np.maximum(x @ p["w1"] + p["b1"], 0)
        h2 = np.maximum(h1 @ p["w2"] + p["b2"], 0)
        return h2 @ p["w3"] + p["b3"], (x, h1, h2)

    def backward(self, g, saved):
        p, (x, h1, h2) = self.parameters, saved
        g2 = (g @ p["w3"].T) * (h2 > 0)
        g1 = (g2 @ p["w2"].T) * (h1 > 0)
        return {"w3": h2.T @ g, "b3": g.sum(0), "w2": h1.T @ g2, "b2": g2.sum(0), "w1": x.T @ g1, "b1": g1.sum(0)}


def patches(x):
    """[n, c, h, w] -> [n, h, w, c*9]: the 3x3 neighbourhoods, zero beyond the border."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def conv_back(g, columns, w):
    """Gradients of a 3x3 convolution: g [n, k, h, w], columns as from patches() -> (by x, by w, by bias)."""
    n, k, height, width = g.shape
    rows = g.transpose(0, 2, 3, 1).reshape(-1, k)
    by_w = (rows.T @ columns.reshape(-1, columns.shape[-1])).reshape(w.shape)
    by_columns = (rows @ w.reshape(k, -1)).reshape(n, height, width, w.shape[1], 3, 3)
    by_x = np.zeros((n, w.shape[1], height + 2, width + 2), np.float32)
    for r in range(3):
        for s in range(3):
            by_x[:, :, r:r + height, s:s + width] += by_columns[:, :, :, :, r, s].transpose(0, 3, 1, 2)
    return by_x[:, :, 1:-1, 1:-1], by_w, rows.sum(0)


def conv(x, w, bias):
    columns = patches(x)
    y = columns @ w.reshape(w.shape[0], -1).T + bias
    return np.ascontiguousarray(y.transpose(0, 3, 1, 2)), columns


def pool(x):
    """2x2 maximum; also the mask of where it came from (first of equals)."""
    n, c, h, w = x.shape
    cells = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    return cells.max(-1), np.eye(4, dtype=np.float32)[cells.argmax(-1)]


def pool_back(g, mask):
    n, c, h, w = g.shape
    cells = (g[..., None] * mask).reshape(n, c, h, w, 2, 2)
    return cells.transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 2 * h, 2 * w)


class Cnn:
    """conv 16 - relu - conv 32 - relu - pool - conv 64 - relu - pool - linear 10, all convolutions 3x3 with padding 1."""
    epochs = 60

    def __init__(self, generator):
        self.parameters = {"k1": weight(generator, 16, 1, 3, 3), "c1": np.zeros(16, np.float32),
                           "k2": weight(generator, 32, 16, 3, 3), "c2": np.zeros(32, np.float32),
                           "k3": weight(generator, 64, 32, 3, 3), "c3": np.zeros(64, np.float32),
                           "w": weight(generator, 256, 10), "b": np.zeros(10, np.float32)}

    def forward(self, x):
        p = self.parameters
        y1, q1 = conv(x.reshape(-1, 1, 8, 8), p["k1"], p["c1"])
        y2, q2 = conv(np.maximum(y1, 0), p["k2"], p["c2"])
        m2, mask2 = pool(np.maximum(y2, 0))
        y3, q3 = conv(m2, p["k3"], p["c3"])
        m3, mask3 = pool(np.maximum(y3, 0))
        flat = m3.reshape(len(x), -1)
        return flat @ p["w"] + p["b"], (y1, q1, y2, q2, mask2, y3, q3, mask3, flat)

    def backward(self, g, saved):
        p, (y1, q1, y2, q2, mask2, y3, q3, mask3, flat) = self.parameters, saved
        back = {"w": flat.T @ g, "b": g.sum(0)}
        g3 = pool_back((g @ p["w"].T).reshape(len(g), 64, 2, 2), mask3) * (y3 > 0)
        g2, back["k3"], back["c3"] = conv_back(g3, q3, p["k3"])
        g2 = pool_back(g2, mask2) * (y2 > 0)
        g1, back["k2"], back["c2"] = conv_back(g2, q2, p["k2"])
        _, back["k1"], back["c1"] = conv_back(g1 * (y1 > 0), q1, p["k1"])
        return back


def train(model, images, labels, generator):
    adam, steps = Adam(model.parameters), model.epochs * (len(images) // BATCH)
    for step in range(steps):
        if step % (len(images) // BATCH) == 0:
            order, start = generator.permutation(len(images)), 0
        picked = order[start:start + BATCH]
        start += BATCH
        x = shifted(images[picked], generator).astype(np.float32) * np.float32(0.0625)
        logits, saved = model.forward(x)
        g = (softmax(logits) - np.eye(10, dtype=np.float32)[labels[picked]]) / BATCH
        adam.update(model.backward(g.astype(np.float32), saved), RATE * 0.5 * (1 + np.cos(np.pi * step / steps)))


def main():
    train_images, train_labels, test_images, test_labels = load_split()
    for folder, model_type in (("07_digits_mlp", Mlp), ("08_digits_cnn", Cnn)):
        generator = np.random.default_rng(TRAIN_SEED)
        model = model_type(generator)
        train(model, train_images, train_labels, generator)
        logits, _ = model.forward(test_images.astype(np.float32) * np.float32(0.0625))
        right = (logits.argmax(1) == test_labels).mean()
        print(f"{folder}: {100 * right:.1f} % of {len(test_images)} images never trained on")
        target = os.path.join(HERE, "..", folder, "weights")
        os.makedirs(target, exist_ok=True)
        for name, value in model.parameters.items():
            np.save(os.path.join(target, name + ".npy"), np.ascontiguousarray(value.astype(np.float32)))
    np.save(os.path.join(HERE, "test_images.npy"), test_images)
    np.save(os.path.join(HERE, "test_labels.npy"), test_labels)


if __name__ == "__main__":
    main()
