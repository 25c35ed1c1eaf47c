"""Fast classifiers in the place of the paper's, for tests of what is around them."""

import os

from sklearn.naive_bayes import GaussianNB

from neuralkdb.paper.methods import PAPER_SETTINGS, RECIPES, Recipe


class Neural(GaussianNB):
    def __init__(self, k=2, activation="tanh", embedding_dim=128, batch_size=32, epochs=10,
                 schedule="auto", weight_decay=0.0, random_state=None):  # fmt: skip
        self.k = k
        self.activation = activation
        self.embedding_dim = embedding_dim
        self.batch_size = batch_size
        self.epochs = epochs
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.random_state = random_state
        super().__init__(var_smoothing=0.01 * k + 1 / embedding_dim + 0.001 * epochs)


class Counting(GaussianNB):
    def __init__(self, k=2):
        self.k = k
        super().__init__(var_smoothing=0.05 * k)


class Failing(GaussianNB):
    def fit(self, X, y):
        raise RuntimeError("out of\nluck")


class Dying(GaussianNB):
    """Takes the whole process with it."""

    def fit(self, X, y):
        os._exit(9)


class Encoding(GaussianNB):
    """Takes tables as they are."""

    def __init__(self, discretization="quantile", n_bins=5, missing="value"):
        self.discretization = discretization
        self.n_bins = n_bins
        self.missing = missing
        super().__init__()


def stand_in_recipes():
    def recipe(name, settings):
        return Recipe(f"paper_stand_ins:{name}", settings, PAPER_SETTINGS)

    kept = {name: RECIPES[name] for name in ("RF", "LR")}
    neural = {**RECIPES["NeuralKDB"].settings}
    return {
        "NeuralKDB": recipe("Neural", neural),
        "NeuralNB": recipe("Neural", {"k": 9}),
        "NN": recipe("Neural", {"k": 5}),
        **{name: recipe("Counting", {"k": 2}) for name in ("KDF", "KDB")},
        "TAN": Recipe("sklearn.tree:DecisionTreeClassifier", {"max_depth": 3}),
        "NB": Recipe("sklearn.naive_bayes:BernoulliNB"),
        "Failing": recipe("Failing", {}),
        "Dying": recipe("Dying", {}),
        **kept,
    }
