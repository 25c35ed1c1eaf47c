"""
Pictures of models
==================

Draw the pictures of the docs: ``python examples/pictures.py [FOLDER]``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from quickstart import wine
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from neuralkdb import AODEClassifier, KDBClassifier, NeuralKDBClassifier
from neuralkdb.plotting import ContributionsDisplay, EmbeddingMapDisplay, ReliabilityDisplay, StructureDisplay


def main() -> None:
    """Fit on data that scikit-learn has, and draw."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures")
    folder.mkdir(parents=True, exist_ok=True)
    X, y = wine()
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.4, random_state=0)
    model = KDBClassifier(k=1).fit(X_train, y_train)
    neural = NeuralKDBClassifier(k=2, discretization="quantile", random_state=0).fit(X_train, y_train)
    bunch = load_breast_cancer(as_frame=True)
    many = KDBClassifier(k=2).fit(bunch.data, bunch.target_names[bunch.target])
    digits, digit = load_digits(return_X_y=True)
    displays = {
        "structure": StructureDisplay.from_estimator(model),
        "structure-of-many": StructureDisplay.from_estimator(many),
        "embedding-map": EmbeddingMapDisplay.from_estimator(neural, "alcohol"),
        "contributions": ContributionsDisplay.from_estimator(model, X_test, row=3),
        "reliability": ReliabilityDisplay.from_estimator(
            AODEClassifier().fit(digits[::2], digit[::2]), digits[1::2], digit[1::2]
        ),
    }
    for name, display in displays.items():
        display.figure_.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
