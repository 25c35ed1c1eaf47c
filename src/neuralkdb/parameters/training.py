"""Training embeddings on family tables: the paper's Algorithm 2, and a schedule whose cost does not know the rows.

A cell is a child value, its parents' values and a class; its weight says how often it was seen.

- "instances": a cell is as many instances as it weighs, all shuffled in every epoch and taken in small batches. A
  fractional weight w is ceil(w) instances that count w / ceil(w) each.
- "cells": cells with the same parents and class are one unit, which counts as much as it weighs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.network import Family, Floats
from neuralkdb.parameters.conditional import Conditional
from neuralkdb.parameters.embeddings import ACTIVATIONS, EmbeddedLaw, Embeddings
from neuralkdb.tables import Table

Tables = Mapping[Family, Table]
Report = Callable[[int, int, float], None]  # epoch, epochs, loss


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn in training: inputs of the hidden layer, and the child values seen with them."""

    child: NDArray[np.int32]  # (families,) row of W for the child's first value
    n_values: NDArray[np.int32]  # (families,)
    family: NDArray[np.int32]  # (units,)
    inputs: NDArray[np.int32]  # (units, parents + 1) rows of V and of U; -1 is none
    starts: NDArray[np.int64]  # (units + 1,)
    values: NDArray[np.int32]  # (cells,) the child's code
    weights: Floats  # (cells,)

    @property
    def unit_weights(self) -> Floats:
        """The weight of each unit, (units,)."""
        return np.add.reduceat(self.weights, self.starts[:-1]) if len(self.weights) else self.weights


def units_of(tables: Tables, embeddings: Embeddings, *, merged: bool) -> Units:
    """The cells of all families, in the order of the families and of their tables; `merged` by parents and class."""
    width = max(len(family.parents) for family in tables) + 1
    parts = [_cells(number, *item, embeddings, width) for number, item in enumerate(tables.items())]
    family, inputs, values, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if merged:
        order = np.lexsort((values, *inputs.T[::-1], family))
        family, inputs, values, weights = family[order], inputs[order], values[order], weights[order]
        new = np.diff(np.column_stack([family, inputs]), axis=0).any(axis=1)
        first = np.concatenate([[0], np.flatnonzero(new) + 1])
    else:
        first = np.arange(len(values))
    children = [family.child for family in tables]
    return Units(
        np.array([embeddings.first_child + embeddings.starts[child] for child in children], np.int32),
        np.array([embeddings.cardinalities[child] for child in children], np.int32),
        family[first],
        np.ascontiguousarray(inputs[first]),
        np.append(first, len(values)).astype(np.int64),
        values,
        weights,
    )


def _cells(
    number: int, family: Family, table: Table, embeddings: Embeddings, width: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], Floats]:
    codes, classes, weights = table.cells()
    inputs = np.full((len(codes), width), -1, np.int32)
    inputs[:, : len(family.parents)] = embeddings.parent_rows(codes[:, :-1], family.parents)
    inputs[:, -1] = embeddings.first_class + classes
    return np.full(len(codes), number, np.int32), inputs, codes[:, -1].astype(np.int32), weights


@dataclass(frozen=True)
class Schedule:
    """How units are drawn, and how fast they teach."""

    merged: bool  # whether cells with the same parents and class are one unit
    epochs: int
    batch_size: int
    learning_rate: float
    falling: bool  # whether the learning rate falls to zero, or stays

    def rates(self, n_steps: int) -> Iterator[Floats]:
        """The learning rates of the steps of every epoch."""
        share = np.arange(self.epochs * n_steps) / (self.epochs * n_steps)
        rates = self.learning_rate * (1.0 - share if self.falling else np.ones_like(share))
        return iter(rates.reshape(self.epochs, n_steps))


@dataclass(frozen=True)
class Training:
    """How embeddings are trained."""

    activation: str = "tanh"
    weight_decay: float = 0.0
    parent_dropout: float = 0.0
    seed: int = 0
    n_threads: int = 1

    def run(
        self,
        embeddings: Embeddings,
        tables: Tables,
        schedule: Schedule,
        after_epoch: Callable[[Embeddings, float], bool],
    ) -> Embeddings:
        """The embeddings after all epochs, or after the first for which `after_epoch` is true."""
        units = units_of(tables, embeddings, merged=schedule.merged)
        repeats = np.ones(len(units.family)) if schedule.merged else np.ceil(units.unit_weights)
        share = units.unit_weights.mean() if schedule.merged else np.repeat(repeats, np.diff(units.starts))
        units = replace(units, weights=units.weights / share)
        n_steps = -(-int(repeats.sum()) // schedule.batch_size)
        for epoch, rates in enumerate(schedule.rates(n_steps)):
            embeddings, loss = self._epoch(embeddings, units, repeats.astype(np.int32), rates, schedule, epoch)
            if after_epoch(embeddings, loss):
                break
        return embeddings

    def _epoch(
        self,
        embeddings: Embeddings,
        units: Units,
        repeats: NDArray[np.int32],
        rates: Floats,
        schedule: Schedule,
        epoch: int,
    ) -> tuple[Embeddings, float]:
        state = [array.copy() for array in (embeddings.values, embeddings.first_moments, embeddings.second_moments)]
        seed = self.seed + embeddings.n_steps
        loss = _kernels.train_embeddings(
            *state,
            embeddings.n_steps,
            _kernels.shuffled_units(repeats, seed, epoch + 1),
            rates,
            units.child,
            units.n_values,
            units.family,
            units.inputs,
            units.starts,
            units.values,
            units.weights.astype(np.float32),
            embeddings.first_class,
            False,
            schedule.batch_size,
            ACTIVATIONS.index(self.activation),
            self.weight_decay,
            self.parent_dropout,
            seed,
            self.n_threads,
        )
        values, first, second = state
        trained = replace(
            embeddings,
            values=values,
            first_moments=first,
            second_moments=second,
            n_steps=embeddings.n_steps + len(rates),
        )
        total = float((units.weights * np.repeat(repeats, np.diff(units.starts))).sum())
        return trained, loss / max(total, 1e-300)


def conditionals_of(tables: Tables, embeddings: Embeddings, activation: str) -> dict[Family, Conditional]:
    """The conditional of every family."""
    return {
        family: Conditional(family, EmbeddedLaw(family, table, embeddings, activation))
        for family, table in tables.items()
    }


def mean_loss(tables: Tables, embeddings: Embeddings, activation: str) -> float:
    """Mean of -log P over the weight of all cells."""
    losses = [_loss(table, EmbeddedLaw(family, table, embeddings, activation)) for family, table in tables.items()]
    loss, weight = np.sum(losses, axis=0)
    return float(loss / weight)


def _loss(table: Table, law: EmbeddedLaw) -> tuple[float, float]:
    codes, classes, weights = table.cells()
    probability = law.probability(codes)[np.arange(len(codes)), classes]
    return float(-(weights * np.log(probability)).sum()), float(weights.sum())
