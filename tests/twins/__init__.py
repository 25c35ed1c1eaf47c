"""Slow, obvious versions of the counted Bayesian network classifiers, from their definitions.

They share nothing with the library, and pin every convention down:

* Rows of zero weight do not exist. N(...) is a sum of weights, P(y) = N(y) / N without smoothing.
* Information is in nats, never negative, and rounded to 12 decimals before it is compared or
  used as a weight. Ties go to the lower feature; tied pairs to the lexicographically first.
* Parents stand in order of descending information with their child: the order of back-off.
* Leave-one-out looks at distinct (codes, class) rows with their weights added up. It takes
  min(1, w) off the row's own weight, recounts everything (structure and cardinalities stay),
  and counts the score w times.
* The predicted class is the first whose log joint is within 1e-9 of the largest.
* Where every class has joint zero (only without smoothing) the posterior is uniform.
"""

from twins.ande import AveragedJoints, ande, aode, waode
from twins.estimation import Parameters, conditional
from twins.information import conditional_mutual_information, mutual_information
from twins.kdb import kdb, kdf, naive_bayes
from twins.mnkdb import mnkdb
from twins.model import AveragedPosteriors, Network, NetworkPerClass, Parents
from twins.selective import nested, scores, skdb
from twins.superparent import sptan
from twins.table import Data, data, distinct
from twins.tree import tan

__all__ = [
    "AveragedJoints",
    "AveragedPosteriors",
    "Data",
    "Network",
    "NetworkPerClass",
    "Parameters",
    "Parents",
    "ande",
    "aode",
    "conditional",
    "conditional_mutual_information",
    "data",
    "distinct",
    "kdb",
    "kdf",
    "mnkdb",
    "mutual_information",
    "naive_bayes",
    "nested",
    "scores",
    "skdb",
    "sptan",
    "tan",
    "waode",
]
