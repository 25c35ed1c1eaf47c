"""Training embeddings on family tables: the paper's Algorithm 2, and a schedule whose cost does not know the rows.

A cell is a child value, its parents' values and a class; its weight says how often it was seen.

- "instances": a cell is as many instances as it weighs, all shuffled in every epoch and taken in small batches. A
  fractional weight w is ceil(w) instances that count w / ceil(w) each.
- "cells": cells with the same parents and class are one unit, which counts as much as it weighs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neuralkdb import _kernels
from neuralkdb.network import Family, Floats
from neuralkdb.parameters.embeddings import ACTIVATIONS, EmbeddedLaw, Embeddings
from neuralkdb.tables import Table

Tables = Mapping[Family, Table]


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
    falls: bool  # whether the learning rate falls to zero, or stays
    repeats: int = 1  # how often a unit is drawn in an epoch, for each instance of it

    def rates(self, n_steps: int) -> Floats:
        """The learning rate of each step, (epochs, steps of an epoch)."""
        left = 1.0 - np.arange(self.epochs * n_steps) / (self.epochs * n_steps)
        rates = self.learning_rate * (left if self.falls else np.ones_like(left))
        return np.asarray(rates.reshape(self.epochs, n_steps))


@dataclass(frozen=True)
class Trainer:
    """How embeddings move."""

    activation: str = "tanh"
    weight_decay: float = 0.0
    parent_dropout: float = 0.0
    seed: int = 0
    n_threads: int = 1

    def epochs(self, embeddings: Embeddings, tables: Tables, schedule: Schedule) -> Iterator[tuple[Embeddings, float]]:
        """The embeddings and the mean loss after each epoch."""
        units = units_of(tables, embeddings, merged=schedule.merged)
        instances = np.ones(len(units.family)) if schedule.merged else np.ceil(units.unit_weights)
        share = units.unit_weights.mean() if schedule.merged else np.repeat(instances, np.diff(units.starts))
        units = replace(units, weights=units.weights / share)
        repeats = (schedule.repeats * instances).astype(np.int32)
        n_steps = -(-int(repeats.sum()) // schedule.batch_size)
        for number, rates in enumerate(schedule.rates(n_steps)):
            order = _kernels.shuffled_units(repeats, self.seed, embeddings.n_steps + number + 1)
            embeddings, loss = self._epoch(embeddings, units, order, rates, schedule.batch_size)
            yield embeddings, loss / float(units.unit_weights[order].sum())

    def _epoch(
        self, embeddings: Embeddings, units: Units, order: NDArray[np.uint32], rates: Floats, batch_size: int
    ) -> tuple[Embeddings, float]:
        values, first, second = (
            array.copy() for array in (embeddings.values, embeddings.first_moments, embeddings.second_moments)
        )
        loss = _kernels.train_embeddings(
            values,
            first,
            second,
            embeddings.n_steps,
            order,
            rates,
            units.child,
            units.n_values,
            units.family,
            units.inputs,
            units.starts,
            units.values,
            units.weights.astype(np.float32, copy=False),
            n_parents=embeddings.first_class,
            concatenated=False,
            batch_size=batch_size,
            activation=ACTIVATIONS.index(self.activation),
            weight_decay=self.weight_decay,
            dropout=self.parent_dropout,
            seed=self.seed + embeddings.n_steps,
            n_threads=self.n_threads,
        )
        n_steps = embeddings.n_steps + len(rates)
        return replace(embeddings, values=values, first_moments=first, second_moments=second, n_steps=n_steps), loss


def mean_loss(tables: Tables, embeddings: Embeddings, activation: str) -> float:
    """Mean of -log P over the weight of all cells."""
    losses = [_loss(table, EmbeddedLaw(family, table, embeddings, activation)) for family, table in tables.items()]
    loss, weight = np.sum(losses, axis=0)
    return float(loss / weight)


def _loss(table: Table, law: EmbeddedLaw) -> tuple[float, float]:
    codes, classes, weights = table.cells()
    probability = law.probability(codes)[np.arange(len(codes)), classes]
    return float(-(weights * np.log(probability)).sum()), float(weights.sum())
