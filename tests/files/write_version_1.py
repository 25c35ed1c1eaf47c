"""Writes version_1.nkdb and version_1.csv: a model of format version 1 and the probabilities it had."""

from pathlib import Path

import numpy as np
import pandas as pd

from neuralkdb import NeuralKDBClassifier

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 60)
X = pd.DataFrame(
    {"size": rng.normal(y, 1.0).round(2), "colour": np.array(["red", "blue", "green"])[y + rng.integers(0, 2, 60)]}
)
X.loc[::7, "size"] = None
X.loc[::9, "colour"] = None
model = NeuralKDBClassifier(k=1, embedding_dim=8, epochs=3, random_state=0).fit(X, np.array(["no", "yes"])[y])
folder = Path(__file__).parent
model.save(folder / "version_1.nkdb")
X[["p_no", "p_yes"]] = model.predict_proba(X)
X.to_csv(folder / "version_1.csv", index=False)
