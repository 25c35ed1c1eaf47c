"""
Quickstart
==========

Fit, evaluate and explain a classifier on a real table::

    python examples/quickstart.py                        scikit-learn's wine data, made as messy as tables are
    python examples/quickstart.py my.csv --target y      your own CSV file
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

from neuralkdb import KDBClassifier, NaiveBayesClassifier, NeuralKDBEnsembleClassifier


def wine() -> tuple[pd.DataFrame, pd.Series]:
    """The wine data as mixed columns: numbers with gaps, two columns of text, and the names of the classes."""
    bunch = load_wine(as_frame=True)
    X = bunch.data.rename(columns={"od280/od315_of_diluted_wines": "dilution"})
    X["proline"] = np.where(X["proline"] > 700, "much", "little")
    X["color_intensity"] = np.select([X["color_intensity"] < 4, X["color_intensity"] < 7], ["pale", "medium"], "deep")
    gaps = np.random.default_rng(0).random(X.shape) < 0.05
    return X.mask(gaps), bunch.target.map(dict(enumerate(bunch.target_names)))


def from_csv(path: str, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """The columns of a file, and its target."""
    table = pd.read_csv(path).dropna(subset=[target])
    return table.drop(columns=target), table[target]


def main() -> None:
    """Print what was learned."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", nargs="?")
    parser.add_argument("--target")
    given = parser.parse_args()
    if (given.table is None) != (given.target is None):
        parser.error("a table needs --target, the name of the column to predict")
    X, y = from_csv(given.table, given.target) if given.table else wine()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)

    print(f"{len(X_train)} rows to learn from, {len(X_test)} held out; {X.shape[1]} columns, {y.nunique()} classes\n")
    models = (NaiveBayesClassifier(), KDBClassifier(k=1), NeuralKDBEnsembleClassifier(random_state=0))
    for model in models:
        probabilities = model.fit(X_train, y_train).predict_proba(X_test)
        accuracy = accuracy_score(y_test, model.predict(X_test))
        loss = log_loss(y_test, probabilities, labels=model.classes_)
        print(f"{type(model).__name__:28} accuracy {accuracy:.3f}   log-loss {loss:.3f}")

    _, network, ensemble = models
    print("\nWhat each feature depends on in the KDB, besides the class:")
    for child, parents in network.structure_.items():
        print(f"  {child:24} {', '.join(parents) or '-'}")

    row = X_test[:1]
    (label,) = ensemble.predict(row)
    print(f"\nWhy the first held-out row is called {label} by the ensemble (log-odds; + speaks for it, - against):")
    for name, value in ensemble.explain(row).strongest(0, label, n=6):
        print(f"  {name:24} {value:+.2f}")


if __name__ == "__main__":
    main()
