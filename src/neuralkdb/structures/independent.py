"""No feature depends on another: naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass

from neuralkdb.counting import Counts
from neuralkdb.network import Family, Structure, single


@dataclass(frozen=True)
class Independent:
    """The class is the only parent."""

    def learn(self, counts: Counts) -> Structure:
        """One family without feature-parents per feature."""
        return single([Family(child) for child in range(len(counts.cardinalities))])
