"""
One model of two sites
======================

Counts travel, rows do not::

    pip install ".[engines]" pandas && python examples/federated.py

Each site may be a file, a database or a lazy table of any engine. First the counts of values are added up, from which a
shared encoding is learned; then tables of pairs, from which the structure is learned; then those of the families.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_breast_cancer

import neuralkdb as nk
from neuralkdb.engines.frame import Frame


class Border:
    """How many rows of answers leave the engines: cells with their counts."""

    def __init__(self) -> None:
        self.rows, collect = 0, Frame.collect

        def counted(frame, lazy, doing):
            answer = collect(frame, lazy, doing)
            self.rows += len(next(iter(answer.values())))
            return answer

        Frame.collect = counted


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    table = X[[name for name in X if name.startswith("worst")]].assign(y=y)
    with TemporaryDirectory() as folder:
        one, other = Path(folder) / "one.parquet", Path(folder) / "other.parquet"
        table[:300].to_parquet(one)
        table[300:].to_parquet(other)
        border = Border()
        federated = nk.KDBClassifier(k=2).fit_table([one, other], "y")
        print(f"{border.rows} cells and their counts left the sites")

        features = table.drop(columns="y")
        central = nk.KDBClassifier(k=2).fit(features, table["y"])
        same = np.array_equal(federated.predict_proba(features), central.predict_proba(features))
        print(f"the same probabilities as the model of all rows in one place: {same}")

        # Later, each site counts with the shared encoding and structure by itself, and the counts add up.
        parts = [nk.KDBClassifier(k=2).fit_table(site, "y", like=federated) for site in (one, other)]
        merged = nk.merge(*parts)
        print("merged:", np.array_equal(merged.predict_proba(features), central.predict_proba(features)))
        try:
            nk.merge(parts[0], nk.KDBClassifier(k=2).fit_table(other, "y"))
        except ValueError as error:
            print(f"with an encoding of its own: {error}")


if __name__ == "__main__":
    main()
