"""
Rows that come later
====================

``partial_fit`` adds counts to counts, so a model that has learned in parts equals the one that saw all rows at once.
What more rows bring differs: a structure with more parents needs more of them.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from neuralkdb import KDBClassifier, NaiveBayesClassifier, TANClassifier

# %%
# Rows in which every feature follows the class and the feature before it.

random = np.random.default_rng(0)
n_rows, n_features, n_values = 20_000, 12, 6
y = random.integers(0, 3, n_rows)
X = np.empty((n_rows, n_features), int)
for j in range(n_features):
    copied = (X[:, j - 1] * (1 + y) + y if j else y) % n_values
    X[:, j] = np.where(random.random(n_rows) < 0.35, copied, random.integers(0, n_values, n_rows))
X_test, y_test = X[-5000:], y[-5000:]

# %%
# Learn in parts, and judge after each.

ends = [100, 300, 1000, 3000, 10_000, 15_000]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for model in (NaiveBayesClassifier(), TANClassifier(), KDBClassifier(k=3)):
    model.set_params(discretization="codes")
    losses = []
    for first, end in zip([0, *ends], ends, strict=False):
        model.partial_fit(X[first:end], y[first:end], classes=[0, 1, 2])
        losses.append(log_loss(y_test, model.predict_proba(X_test)))
    axes.plot(ends, losses, marker="o", label=repr(type(model).__name__.removesuffix("Classifier")).strip("'"))
axes.set(xscale="log", xlabel="rows learned from", ylabel="log-loss on other rows")
axes.legend()
plt.show()

# %%
# The parts add up to the whole, with the structure of the first part.

parts = TANClassifier(discretization="codes").partial_fit(X[:3000], y[:3000], classes=[0, 1, 2])
parts.partial_fit(X[3000:6000], y[3000:6000])
whole = TANClassifier(discretization="codes").fit(X[:6000], y[:6000])
print("structures agree:", parts.structure_ == whole.structure_)
print("largest difference:", np.abs(parts.predict_proba(X_test) - whole.predict_proba(X_test)).max())
