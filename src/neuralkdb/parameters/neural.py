"""The conditionals of all families at once, by embeddings: NeuralKDB (Zhang et al., 2025), section 4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from neuralkdb.network import Family
from neuralkdb.parameters.conditional import Conditional
from neuralkdb.parameters.embeddings import EmbeddedLaw, Embeddings
from neuralkdb.parameters.training import Schedule, Tables, Trainer, mean_loss, units_of

Report = Callable[[int, int, float], None]  # epoch, number of epochs, loss

# How "auto" chooses, and the schedules it chooses from: docs/measurements.md has the figures.
INSTANCES_PER_CELL = 30.0  # from here on, training on cells is as accurate
MANY_INSTANCES = 2_000_000.0  # from here on, larger batches
STEPS_OF_CELLS = 10_000  # what must not shrink with the number of cells is steps, not epochs
EPOCHS_OF_CELLS = 30  # or this often each cell, where that is more


def has_weight(tables: Tables) -> bool:
    """Whether anything was counted."""
    return any(table.weights.any() for table in tables.values())


@dataclass(frozen=True)
class HeldOut:
    """Tables that are not trained on, and how many epochs may pass without a better loss on them."""

    tables: Tables
    patience: int = 2


@dataclass(frozen=True)
class Fixed:
    """Embeddings that are trained already."""

    embeddings: Embeddings
    activation: str

    def pseudocount(self, n_cells: int) -> float:
        """What each of `n_cells` cells of a distribution starts with: m = 1."""
        return 1.0 / n_cells

    def fit(self, tables: Tables) -> dict[Family, Conditional]:
        """One conditional per family, all with the same embeddings."""
        return {
            family: Conditional(family, EmbeddedLaw(family, table, self.embeddings, self.activation))
            for family, table in tables.items()
        }


@dataclass(frozen=True)
class Embedded:
    """Trains the embeddings of all values from the tables of all families."""

    dimensions: int = 128
    epochs: int = 10
    batch_size: int = 32
    learning_rate: float = 1e-3
    schedule: str = "auto"
    trainer: Trainer = field(default_factory=Trainer)
    start: Embeddings | None = None  # where training goes on, if it does
    held_out: HeldOut | None = None
    report: Report | None = None

    def pseudocount(self, n_cells: int) -> float:
        """What each of `n_cells` cells of a distribution starts with: m = 1."""
        return 1.0 / n_cells

    def fit(self, tables: Tables) -> dict[Family, Conditional]:
        """One conditional per family, all with the same embeddings."""
        return self.trained(tables).fit(tables)

    def trained(self, tables: Tables) -> Fixed:
        """Embeddings trained on the tables of all families."""
        return Fixed(self.embeddings(tables), self.trainer.activation)

    def embeddings(self, tables: Tables) -> Embeddings:
        """The embeddings after training; as they were where nothing was counted."""
        embeddings = best = self._start(tables)
        if not has_weight(tables):
            return best
        schedule = self.schedule_for(tables)
        losses, held_out = list(embeddings.losses), []
        for embeddings, loss in self.trainer.epochs(embeddings, tables, schedule):  # noqa: B020
            losses.append(loss)
            if self.report is not None:
                self.report(len(losses) - len(best.losses), schedule.epochs, loss)
            if self.held_out is None:
                best = embeddings
                continue
            held_out.append(mean_loss(self.held_out.tables, embeddings, self.trainer.activation))
            if held_out[-1] == min(held_out):
                best = embeddings
            elif held_out.index(min(held_out)) < len(held_out) - self.held_out.patience:
                break
        return replace(best, losses=tuple(losses))

    def schedule_for(self, tables: Tables) -> Schedule:
        """The paper's schedule, the one on cells, or the one for many instances that are nearly all distinct."""
        cells = [table.cells()[2] for table in tables.values()]
        n_cells, weight = sum(map(len, cells)), sum(float(weights.sum()) for weights in cells)
        if self.schedule == "cells" or (self.schedule == "auto" and weight >= INSTANCES_PER_CELL * n_cells):
            return self._on_cells(len(units_of(tables, self._start(tables), merged=True).family), n_cells, weight)
        if self.schedule == "auto" and weight >= MANY_INSTANCES:
            epochs = max(1, round(0.3 * self.epochs))
            return Schedule(False, epochs, 8 * self.batch_size, 8 * self.learning_rate, falls=True)
        return Schedule(False, self.epochs, self.batch_size, self.learning_rate, falls=False)

    def _on_cells(self, n_units: int, n_cells: int, weight: float) -> Schedule:
        """As many steps as cells need, and no more than instances would take; a tenth of them an epoch of ten."""
        wanted = max(STEPS_OF_CELLS, EPOCHS_OF_CELLS * n_cells / self.batch_size)
        steps = min(wanted, 10 * weight / self.batch_size) / 10
        repeats = max(1, round(steps * self.batch_size / n_units))
        return Schedule(True, self.epochs, self.batch_size, 2 * self.learning_rate, falls=True, repeats=repeats)

    def _start(self, tables: Tables) -> Embeddings:
        sizes: dict[int, int] = {}
        for family, table in tables.items():
            sizes.update(zip(family.variables, table.shape, strict=True))
        cardinalities = tuple(sizes.get(feature, 0) for feature in range(max(sizes) + 1))
        n_classes = next(iter(tables.values())).n_classes
        if self.start is None:
            return Embeddings.drawn(cardinalities, n_classes, self.dimensions, self.trainer.seed)
        return self.start.extended(cardinalities, self.trainer.seed)
