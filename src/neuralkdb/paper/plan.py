"""What each experiment of the paper asks for: methods on data sets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neuralkdb.paper.methods import parse_method
from neuralkdb.paper.printed import METHODS

DEPENDENCES = (1, 2, 3, 4)
DEPENDENCE_SETS = ("credit-g", "waveform-5000")
SENSITIVITY_SETS = ("vehicle", "breast-cancer")
SENSITIVITY = {
    "embedding_dim": (16, 32, 64, 128, 256),
    "batch_size": (8, 16, 32, 64, 128),
    "epochs": (2, 5, 10, 20, 40),
}
PARAMETER_NAMES = {"embedding_dim": "embedding dimension", "batch_size": "batch size", "epochs": "number of epochs"}
TWO_PARENTS = "KDF(k=2)"
IDENTITY = "NeuralKDB(activation=identity)"
DECAY = 0.1  # a weight decay that the paper does not have, shown where more parents overfit without
IDENTITY_SETS = ("monks", "car", "vowel")


@dataclass(frozen=True)
class Wish:
    """A method, and the only data sets it is for where it is not for all."""

    method: str
    only: tuple[str, ...] | None = None

    def wants(self, dataset: str) -> bool:
        """Whether the data set is one of those."""
        return self.only is None or dataset in self.only


def with_k(method: str, k: int) -> str:
    """The name of a method for another number of parents."""
    return parse_method(f"{method}(k={k})").name


def decayed(k: int) -> str:
    """The name of NeuralKDB with weight decay, for a number of parents."""
    return parse_method(f"NeuralKDB(k={k}, weight_decay={DECAY})").name


def varied(parameter: str, value: int) -> str:
    """The name of NeuralKDB with another value of a parameter."""
    return parse_method(f"NeuralKDB({parameter}={value})").name


def table1_wishes(extra: Sequence[str]) -> list[Wish]:
    """The paper's methods, and further ones."""
    return [Wish(method) for method in (*METHODS, *extra)]


def table2_wishes() -> list[Wish]:
    """NeuralKDB and KDB for every k."""
    return [Wish(with_k(method, k)) for method in ("NeuralKDB", "KDB") for k in DEPENDENCES]


def sensitivity_wishes() -> list[Wish]:
    """NeuralKDB, one parameter varied at a time."""
    return [
        Wish(varied(parameter, value), SENSITIVITY_SETS)
        for parameter, values in SENSITIVITY.items()
        for value in values
    ]


def decay_wishes() -> list[Wish]:
    """NeuralKDB with weight decay for every k, on the larger sets."""
    return [Wish(decayed(k), DEPENDENCE_SETS) for k in DEPENDENCES]


def wishes(experiment: str, extra: Sequence[str]) -> list[Wish]:
    """All that an experiment needs, each method once."""
    figures = [*table1_wishes(extra), *table2_wishes(), *sensitivity_wishes()]
    asked = {
        "table1": table1_wishes(extra),
        "table2": table2_wishes(),
        "figures": figures,
        "all": [*figures, Wish(TWO_PARENTS), Wish(IDENTITY), *decay_wishes()],
    }[experiment]
    return list(_united(asked))


def _united(asked: Iterable[Wish]) -> Iterable[Wish]:
    """One wish a method: a wish for all data sets takes in a wish for some."""
    everywhere = {wish.method for wish in asked if wish.only is None}
    return dict.fromkeys(wish for wish in asked if wish.only is None or wish.method not in everywhere)
