"""The paper's "Neural Network": vectors of a row's values side by side, one linear layer, softmax over the classes.

It predicts the class and has no joint. Its logits are a sum of one lookup per feature.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.counting import Counts
from neuralkdb.network import Codes, Floats
from neuralkdb.parameters.conditional import Block
from neuralkdb.parameters.embeddings import ACTIVATIONS
from neuralkdb.parameters.training import Schedule, Trainer


@dataclass(frozen=True, eq=False)
class EmbeddingNet:
    """What each value of each feature adds to the logit of each class."""

    logits: tuple[Floats, ...]  # (codes + 1, classes) of each feature; a marginalized value adds nothing
    bias: Floats  # (classes,)
    has_joint = False

    def log_joint(self, block: Block) -> Floats:
        """The logits, (rows, classes): no joint, as it says nothing about P(x)."""
        return np.asarray(self.log_terms(block).sum(axis=1))

    def log_posterior(self, block: Block) -> Floats:
        """Log P(y | x) of every row, (rows, classes)."""
        logits = self.log_joint(block)
        return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))

    def log_terms(self, block: Block) -> Floats:
        """What the logits are the sum of: the bias, then each feature, (rows, features + 1, classes)."""
        columns = zip(self.logits, block.codes.T, strict=True)
        bias = np.tile(self.bias, (len(block.codes), 1))
        return np.stack([bias, *(table[codes] for table, codes in columns)], axis=1)


def train_embedding_net(
    counts: Counts, trainer: Trainer, schedule: Schedule, dimensions: int
) -> tuple[EmbeddingNet, list[float]]:
    """The network trained on the canonical rows, and the mean loss of each epoch."""
    rows, cardinalities = counts.rows(), counts.cardinalities
    starts = np.concatenate([[0], np.cumsum(cardinalities)])
    n_values, width = int(starts[-1]), len(cardinalities) + 1
    instances = np.ceil(rows.weights)
    # A linear layer starts uniform within one over the root of its inputs; the last row holds the bias.
    bound = ((width - 1) * dimensions) ** -0.5
    values = _kernels.initial_embeddings(n_values, counts.n_classes * width, dimensions, bound, trainer.seed)
    values[n_values:].reshape(counts.n_classes, width, dimensions)[:, -1, 1:] = 0.0
    state, losses, n_steps = (values, np.zeros_like(values), np.zeros_like(values)), [], 0
    steps_per_epoch = -(-int(instances.sum()) // schedule.batch_size)
    for number, rates in enumerate(schedule.rates(steps_per_epoch)):
        loss = _kernels.train_embeddings(
            *state,
            steps_before=n_steps,
            order=_kernels.shuffled_units(instances.astype(np.int32), trainer.seed, number + 1),
            rates=rates,
            child=np.array([n_values], np.int32),
            n_values=np.array([counts.n_classes], np.int32),
            family=np.zeros(len(instances), np.int32),
            inputs=_value_rows(rows.codes, starts, cardinalities),
            cells=np.arange(len(instances) + 1),
            codes=rows.classes.astype(np.int32),
            weights=(rows.weights / instances).astype(np.float32),
            n_parents=n_values,
            concatenated=True,
            batch_size=schedule.batch_size,
            activation=ACTIVATIONS.index("identity"),
            weight_decay=trainer.weight_decay,
            dropout=0.0,
            seed=trainer.seed,
            n_threads=trainer.n_threads,
        )
        n_steps += steps_per_epoch
        losses.append(loss / float(rows.weights.sum()))
    layer = values[n_values:].reshape(counts.n_classes, width, dimensions).astype(np.float64)
    logits = tuple(
        np.vstack([values[start : start + size] @ layer[:, feature].T, np.zeros(counts.n_classes)])
        for feature, (start, size) in enumerate(zip(starts, cardinalities, strict=False))
    )
    return EmbeddingNet(logits, layer[:, -1, 0]), losses


def _value_rows(codes: Codes, starts: NDArray[np.int64], cardinalities: tuple[int, ...]) -> NDArray[np.int32]:
    rows = codes.astype(np.int64)
    return np.ascontiguousarray(np.where(rows < np.array(cardinalities), rows + starts[:-1], -1), np.int32)
