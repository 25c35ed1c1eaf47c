"""Writes files of format version 1, with the probabilities their models had: version_1*.nkdb and version_1*.csv."""

from pathlib import Path

import numpy as np
import pandas as pd

from neuralkdb import KDBClassifier, NeuralKDBClassifier

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 60)
X = pd.DataFrame(
    {"size": rng.normal(y, 1.0).round(2), "colour": np.array(["red", "blue", "green"])[y + rng.integers(0, 2, 60)]}
)
X.loc[::7, "size"] = None
X.loc[::9, "colour"] = None
models = {
    "version_1": NeuralKDBClassifier(k=1, embedding_dim=8, epochs=3, random_state=0),
    "version_1_counts": KDBClassifier(k=1, estimate="backoff"),
}
for name, model in models.items():
    model.fit(X, np.array(["no", "yes"])[y]).save(Path(__file__).with_name(f"{name}.nkdb"))
    probabilities = pd.DataFrame(model.predict_proba(X), columns=["p_no", "p_yes"])
    X.join(probabilities).to_csv(Path(__file__).with_name(f"{name}.csv"), index=False)
