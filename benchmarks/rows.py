"""Made rows, as many as one likes."""

from __future__ import annotations


def write_rows(folder: str, n_rows: int, n_features: int = 20, n_values: int = 5) -> None:
    """Integers that depend on the class and on the column before, on disk: making them leaves no mark on memory."""
    import numpy as np

    random = np.random.default_rng(0)
    y = random.integers(0, 2, n_rows)
    X = np.empty((n_rows, n_features), np.int64)
    for j in range(n_features):
        noise = random.integers(0, n_values, n_rows)
        copied = (X[:, j - 1] + y if j else y) % n_values
        X[:, j] = np.where(random.random(n_rows) < 0.3, copied, noise)
    np.save(f"{folder}/X.npy", X)
    np.save(f"{folder}/y.npy", y)
