"""Counting and training with PyTorch, on a graphics processor or on the CPU.

A step of training takes equally many instances of every family, so that all families are one batch of matrix products:
which parents' values an instance has is a row of zeros and ones, and sums of vectors, and of their gradients, are
products with it. Everything else is Algorithm 2 of the paper as in `parameters.training`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neuralkdb.counting import ArrayCounts, CodedRows, PackedCounts, Request
from neuralkdb.engines.errors import EngineError, missing
from neuralkdb.engines.instances import Instances, instances_of
from neuralkdb.network import Floats
from neuralkdb.parameters.embeddings import Embeddings
from neuralkdb.parameters.training import Schedule, Tables, Trainer
from neuralkdb.tables import DenseTable, SparseTable, Table, code_type, dense_limit, volume

try:
    import torch
except ModuleNotFoundError as error:
    raise missing("torch", "gpu", "device=...") from error

LARGEST_KEY = 2**62
NEVER = -1e9  # the logit of a value that a child does not have
FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8
ACTIVATE: dict[str, Any] = {"tanh": torch.tanh, "relu": torch.relu, "identity": lambda sums: sums}
BACK: dict[str, Any] = {  # from the slope of the activation's value, and the value, to that of its argument
    "tanh": torch.ops.aten.tanh_backward,
    "relu": lambda slopes, hidden: slopes * (hidden > 0),
    "identity": lambda slopes, hidden: slopes,
}


def device_of(name: str) -> torch.device:
    """The device, if it is here."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise EngineError(f'There is no device={name!r}: choose "cpu", "cuda" or "cuda:1", say.') from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EngineError(f"device={name!r} was asked for, but PyTorch sees no graphics processor here.")
    return device


@dataclass(frozen=True)
class TorchCounts:
    """Tables counted on a device; whatever else is asked is answered by the counts in memory."""

    host: ArrayCounts
    device: str

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Number of codes of each feature."""
        return self.host.cardinalities

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.host.n_classes

    @property
    def n_threads(self) -> int:
        """For what the device does not do."""
        return self.host.n_threads

    def class_weights(self) -> Floats:
        """N(y), (classes,)."""
        return self.host.class_weights()

    def rows(self) -> CodedRows:
        """The canonical table of the rows."""
        return self.host.rows()

    def blocks(self, n_rows: int) -> Iterator[CodedRows]:
        """The same rows, so many at a time."""
        return self.host.blocks(n_rows)

    def of_class(self, label: int) -> TorchCounts:
        """Counts of the rows of one class."""
        return TorchCounts(self.host.of_class(label), self.device)

    def packed(self, size: int) -> PackedCounts:
        """Counts of every set of `size` features."""
        return self.host.packed(size)

    def tables(self, requests: Sequence[Request]) -> list[Table]:
        """One table per request, one after another."""
        weights = self.host.weights
        limit = dense_limit(float(len(self.host.codes) if weights is None else weights.sum()), len(requests))
        return [self._table(request, limit) for request in requests]

    def _table(self, request: Request, limit: float) -> Table:
        shape = tuple(self.cardinalities[variable] for variable in request)
        size = volume(shape, self.n_classes)
        if size > LARGEST_KEY:
            (table,) = self.host.tables([request])
            return table
        keys, weights = self._keys(request)
        if size <= limit:
            counted = torch.bincount(keys, weights, minlength=size).double().cpu().numpy()
            return DenseTable(counted.reshape(*shape, self.n_classes))
        if weights is None:
            cells, counts = torch.unique(keys, return_counts=True)
        else:
            cells, which = torch.unique(keys, return_inverse=True)
            counts = torch.zeros(len(cells), dtype=torch.float64, device=keys.device).index_add_(0, which, weights)
        return _sparse_of_sorted(cells.cpu().numpy(), counts.double().cpu().numpy(), shape, self.n_classes)

    def _keys(self, request: Request) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The number of each row's cell, class last, and the row's weight; rows with a marginalized value left out."""
        codes, classes, weights = self._rows
        keys = torch.zeros_like(classes, dtype=torch.int64)
        holes = None
        for variable in request:
            column, size = codes[variable], self.cardinalities[variable]
            keys.mul_(size).add_(column)
            if self._has_holes[variable]:
                known = column != size
                holes = known if holes is None else holes & known
        keys.mul_(self.n_classes).add_(classes)
        if holes is None:
            return keys, weights
        return keys[holes], None if weights is None else weights[holes]

    @cached_property
    def _rows(self) -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor | None]:
        device = device_of(self.device)
        codes = [_tensor(self.host.codes[:, j], device) for j in range(len(self.cardinalities))]
        weights = None if self.host.weights is None else torch.from_numpy(self.host.weights).to(device)
        return codes, _tensor(self.host.classes, device), weights

    @cached_property
    def _has_holes(self) -> list[bool]:
        pairs = zip(self._rows[0], self.cardinalities, strict=True)
        return [bool((column == size).any()) for column, size in pairs]


def _on(values: NDArray[Any], device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)


def _tensor(codes: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Codes in a type that PyTorch computes with."""
    wider = {1: np.uint8, 2: np.int32, 4: np.int64}[codes.dtype.itemsize]
    return torch.from_numpy(np.ascontiguousarray(codes, dtype=wider)).to(device)


def _sparse_of_sorted(keys: NDArray[np.int64], weights: Floats, shape: tuple[int, ...], n_classes: int) -> SparseTable:
    """The table whose entries have these ascending numbers."""
    cells, classes = np.divmod(keys, n_classes)
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    dtype = code_type((*shape, n_classes))
    codes = np.stack(np.unravel_index(cells[first], shape), axis=1).astype(dtype)
    return SparseTable(codes, np.append(first, len(keys)), classes.astype(dtype), weights, shape, n_classes)


@dataclass(frozen=True)
class TorchTrainer:
    """What `Trainer` does, on a device. Sums are rounded differently, so results agree in accuracy, not in bits."""

    settings: Trainer
    device: str

    @property
    def activation(self) -> str:
        """Of the sum of vectors."""
        return self.settings.activation

    @property
    def seed(self) -> int:
        """Of first vectors and shuffles."""
        return self.settings.seed

    def epochs(self, embeddings: Embeddings, tables: Tables, schedule: Schedule) -> Iterator[tuple[Embeddings, float]]:
        """The embeddings and the mean loss after each epoch."""
        device = device_of(self.device)
        random = torch.Generator(device).manual_seed(self.seed + embeddings.n_steps)
        instances = instances_of(tables, embeddings, merged=schedule.merged)
        training = Training(self.settings, embeddings, instances, schedule, random)
        for rates in schedule.rates(training.n_steps):
            yield training.epoch(rates)


class Training:
    """Vectors on the device, their moments, and one step after another; a row beyond the vectors stays zero."""

    def __init__(
        self, settings: Trainer, start: Embeddings, instances: Instances, schedule: Schedule, random: torch.Generator
    ) -> None:
        self.settings, self.now, self.random = settings, start, random
        device = random.device
        self.n_steps = -(-schedule.repeats * instances.n_instances // schedule.batch_size)
        sizes = np.array([each.sum() for each in instances.repeats])
        self.width = -(-schedule.batch_size * int(sizes.max()) // instances.n_instances)  # of a family in a step
        self.units = [
            torch.repeat_interleave(
                torch.arange(first, first + len(n), dtype=torch.int32, device=device), _on(n, device)
            )
            for first, n in zip(instances.first_units, instances.repeats, strict=True)
        ]
        self.order = torch.empty((len(sizes), self.width * self.n_steps), dtype=torch.int32, device=device)
        self.rows, self.child_rows = _on(instances.rows, device), _on(instances.child_rows, device)
        self.columns, self.children = _on(instances.columns, device), _on(instances.children, device)
        self.weights = _on(instances.weights, device)
        self.share = _on((sizes / sizes.mean()).astype(np.float32), device)[:, None]
        self.values, self.first, self.second = (
            torch.nn.functional.pad(_on(part, device), (0, 0, 0, 1))
            for part in (start.values, start.first_moments, start.second_moments)
        )
        self.padding = torch.where(self.child_rows < len(start.values), 0.0, NEVER)[:, None]
        self.paces = torch.empty((3, self.n_steps), device=device)
        self.step = torch.zeros(1, dtype=torch.int64, device=device)
        self.loss = torch.zeros(1, dtype=torch.float64, device=device)
        self.lane = torch.arange(self.width, device=device)
        self.decays = FIRST_DECAY, SECOND_DECAY
        self.advance = _fused_step(self) or self._advance
        self._run: Any = None

    def epoch(self, rates: Floats) -> tuple[Embeddings, float]:
        """The embeddings after one more epoch, and its mean loss."""
        self._shuffle()
        self.paces.copy_(_on(self._paces(rates), self.order.device))
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        try:
            self._run = self._run or self._recorded()
            self.step.zero_()
            self.loss.zero_()
            for _ in range(self.n_steps):
                self._run()
        finally:
            torch.set_float32_matmul_precision(before)
        values, first, second = (part[:-1].cpu().numpy().copy() for part in (self.values, self.first, self.second))
        n_steps = self.now.n_steps + self.n_steps
        self.now = replace(self.now, values=values, first_moments=first, second_moments=second, n_steps=n_steps)
        return self.now, float(self.loss.sum()) / self.order.numel()

    def _shuffle(self) -> None:
        """Each family's instances in a new order, over and over where there are not enough."""
        for row, cells in zip(self.order, self.units, strict=True):
            for begin in range(0, len(row), len(cells)):
                some = torch.randperm(len(cells), generator=self.random, dtype=torch.int32, device=row.device)
                row[begin : begin + len(cells)] = cells.index_select(0, some[: len(row) - begin])

    def _paces(self, rates: Floats) -> NDArray[np.float32]:
        """For each step, how far Adam moves, what softens its quotient, and what weight decay leaves."""
        number = self.now.n_steps + 1 + np.arange(self.n_steps)
        root = np.sqrt(1 - SECOND_DECAY**number)
        moves = rates * root / (1 - FIRST_DECAY**number)
        return np.stack([moves, EPSILON * root, 1 - rates * self.settings.weight_decay]).astype(np.float32)

    def _recorded(self) -> Any:
        """A step, as one launch where the device can record it."""
        if self.order.device.type != "cuda":
            return self.advance
        kept = [part.clone() for part in (self.values, self.first, self.second)]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step.zero_()
                self.advance()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        if self.settings.parent_dropout:
            graph.register_generator_state(self.random)
        with torch.cuda.graph(graph):
            self.advance()
        for part, before in zip((self.values, self.first, self.second), kept, strict=True):
            part.copy_(before)
        return graph.replay

    def _advance(self) -> None:
        """One step."""
        units = self.order.index_select(1, self.step * self.width + self.lane)  # (families, width)
        chosen = self._chosen(self.columns[units].long())
        inputs = self.values[self.rows]  # (families, columns, dimensions)
        outputs = self.values[self.child_rows]  # (families, codes, dimensions)
        hidden = ACTIVATE[self.settings.activation](torch.bmm(chosen, inputs))
        logs = torch.log_softmax(torch.baddbmm(self.padding, hidden, outputs.transpose(1, 2)), dim=2)
        shares = self._shares(units, logs)
        weights = (self.weights[units] * self.share)[:, :, None]
        self.loss -= (logs * shares * weights).sum()
        slopes = logs.exp_().sub_(shares).mul_(weights / units.numel())
        back = BACK[self.settings.activation](torch.bmm(slopes, outputs), hidden)
        gradient = torch.zeros_like(self.values)
        dimensions = gradient.shape[1]
        gradient.index_add_(0, self.child_rows.view(-1), torch.bmm(slopes.transpose(1, 2), hidden).view(-1, dimensions))
        gradient.index_add_(0, self.rows.view(-1), torch.bmm(chosen.transpose(1, 2), back).view(-1, dimensions))
        gradient[-1] = 0
        self._move(gradient)

    def _shares(self, units: torch.Tensor, logs: torch.Tensor) -> torch.Tensor:
        """How often the child has each value, (families, width, codes)."""
        if self.children.dim() == 2:
            return self.children[units]
        return torch.zeros_like(logs).scatter_(2, self.children[units].long()[:, :, None], 1.0)

    def _chosen(self, columns: torch.Tensor) -> torch.Tensor:
        """Zeros and ones, (families, width, columns); a parent is dropped now and then."""
        ones = torch.ones(columns.shape, device=columns.device)
        if self.settings.parent_dropout:
            kept = torch.rand(columns[:, :, :-1].shape, generator=self.random, device=columns.device)
            ones[:, :, :-1] = (kept >= self.settings.parent_dropout).float()
        empty = torch.zeros((*columns.shape[:2], self.rows.shape[1]), device=columns.device)
        return empty.scatter_(2, columns, ones)

    def _move(self, gradient: torch.Tensor) -> None:
        """Adam (Kingma and Ba, 2015) with decoupled weight decay."""
        move, soften, shrink = self.paces.index_select(1, self.step)
        self.first.lerp_(gradient, 1 - FIRST_DECAY)
        self.second.mul_(SECOND_DECAY).addcmul_(gradient, gradient, value=1 - SECOND_DECAY)
        self.values.mul_(shrink).sub_(move * self.first / (self.second.sqrt() + soften))
        self.step += 1


def _fused_step(training: Training) -> Any:
    """A step in two kernels, on graphics processors where Triton is installed; None elsewhere."""
    if training.order.device.type != "cuda":
        return None
    try:
        from neuralkdb.engines import fused
    except ModuleNotFoundError:  # it comes with PyTorch, but not for every system
        return None
    return fused.FusedStep(training) if fused.fits(training) else None


ON_DEVICE: dict[type, Any] = {ArrayCounts: TorchCounts, Trainer: TorchTrainer}
