"""A step of training as two kernels of Triton: hidden layers stay in the processor, only gradients leave it.

What the product of zeros and ones with vectors is in `gpu.Training`, it is here, for a few instances of one family at a
time: their hidden layers, logits and slopes are never written to memory.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

INSTANCES, COLUMNS, WARPS = 64, 32, 4  # of a family that are worked on at once, and by how many
LARGEST_ROW, MOST_CODES = 256, 128  # dimensions and values of a child that fit into the processor
ELEMENTS = 1024


def fits(training: Any) -> bool:
    """Whether a step of this training can be fused: drawn instances, no dropout, and rows that are not too long."""
    rows = training.values.shape[1] <= LARGEST_ROW and training.child_rows.shape[1] <= MOST_CODES
    return rows and training.children.dim() == 1 and not training.settings.parent_dropout


class FusedStep:
    """A step of a training, as `Training.advance`."""

    def __init__(self, training: Any) -> None:
        self.training, self.instances, self.warps = training, INSTANCES, WARPS
        self.grid = triton.cdiv(training.width, INSTANCES), len(training.rows)
        self.gradient = training.values.new_zeros(training.values.shape)
        training.loss = training.loss.new_zeros(self.grid[::-1])  # of each block, so that none waits for another

    def __call__(self) -> None:
        """Descend, move, and count the step."""
        t, dimensions = self.training, self.gradient.shape[1]
        _descend[self.grid](
            t.order, t.step, t.columns, t.children, t.weights, t.share, t.rows, t.child_rows, t.values, self.gradient,
            t.loss, t.width, t.order.shape[1], t.rows.shape[1], t.child_rows.shape[1], len(t.values) - 1,
            1.0 / (t.width * len(t.rows)),
            PARENTS=t.columns.shape[1], DIMENSIONS=dimensions, ROW=_padded(dimensions),
            CODES=_padded(t.child_rows.shape[1]), ACTIVATION=t.settings.activation, BLOCK=self.instances, CHUNK=COLUMNS,
            num_warps=self.warps,
        )  # fmt: skip
        n_elements = (len(t.values) - 1) * dimensions
        _move[(triton.cdiv(n_elements, ELEMENTS),)](
            t.values, self.gradient, t.first, t.second, t.paces, t.step, t.paces.shape[1], n_elements,
            FIRST=1 - t.decays[0], SECOND=1 - t.decays[1], BLOCK=ELEMENTS,
        )  # fmt: skip
        t.step += 1


def _padded(size: int) -> int:
    return max(16, int(triton.next_power_of_2(size)))


@triton.jit  # type: ignore[untyped-decorator]
def _chosen(columns, unit, here, first, PARENTS: tl.constexpr, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    """Zeros and ones, (instances, columns from the first)."""
    places = first + tl.arange(0, CHUNK)
    ones = tl.zeros((unit.shape[0], CHUNK), tl.float32)
    for j in tl.static_range(PARENTS):
        column = tl.load(columns + unit * PARENTS + j, mask=here, other=-1)
        ones += tl.where(column[:, None] == places[None, :], 1.0, 0.0)
    return ones


@triton.jit  # type: ignore[untyped-decorator]
def _descend(  # type: ignore[no-untyped-def]
    order, step, columns, children, weights, share, rows, child_rows, values, gradient, losses,
    width, n_drawn, n_columns, n_codes, none, scale,
    PARENTS: tl.constexpr, DIMENSIONS: tl.constexpr, ROW: tl.constexpr, CODES: tl.constexpr,
    ACTIVATION: tl.constexpr, BLOCK: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """The loss of some instances of a family, and what it says about the vectors, added to the gradient."""
    block, family = tl.program_id(0), tl.program_id(1)
    lane = block * BLOCK + tl.arange(0, BLOCK)
    here = lane < width
    place = family.to(tl.int64) * n_drawn + tl.load(step) * width + lane
    unit = tl.load(order + place, mask=here, other=0).to(tl.int64)
    dimension = tl.arange(0, ROW)
    inside = dimension < DIMENSIONS

    hidden = tl.zeros((BLOCK, ROW), tl.float32)
    for first in range(0, n_columns, CHUNK):
        which = first + tl.arange(0, CHUNK)
        row = tl.load(rows + family * n_columns + which, mask=which < n_columns, other=none)
        vectors = tl.load(values + row[:, None] * DIMENSIONS + dimension[None, :], mask=inside[None, :], other=0.0)
        hidden = tl.dot(_chosen(columns, unit, here, first, PARENTS, CHUNK), vectors, hidden)
    if ACTIVATION == "tanh":
        hidden = 2.0 * tl.sigmoid(2.0 * hidden) - 1.0
    if ACTIVATION == "relu":
        hidden = tl.maximum(hidden, 0.0)

    code = tl.arange(0, CODES)
    child_row = tl.load(child_rows + family * n_codes + code, mask=code < n_codes, other=none)
    answers = tl.load(values + child_row[:, None] * DIMENSIONS + dimension[None, :], mask=inside[None, :], other=0.0)
    logits = tl.dot(hidden, tl.trans(answers)) + tl.where(child_row == none, -1e9, 0.0)[None, :]
    logits -= tl.max(logits, axis=1)[:, None]
    powers = tl.exp(logits)
    totals = tl.sum(powers, axis=1)
    seen = tl.load(children + unit, mask=here, other=0)[:, None] == code[None, :]
    weight = tl.load(weights + unit, mask=here, other=0.0) * tl.load(share + family)
    loss = tl.sum((tl.log(totals) - tl.sum(tl.where(seen, logits, 0.0), axis=1)) * weight)
    losses_here = losses + family * tl.num_programs(0) + block
    tl.store(losses_here, tl.load(losses_here) + loss)

    slopes = (powers / totals[:, None] - tl.where(seen, 1.0, 0.0)) * (weight * scale)[:, None]
    back = tl.dot(slopes, answers)
    if ACTIVATION == "tanh":
        back *= 1.0 - hidden * hidden
    if ACTIVATION == "relu":
        back = tl.where(hidden > 0.0, back, 0.0)
    _add(gradient, child_row, none, dimension, inside, tl.dot(tl.trans(slopes), hidden), DIMENSIONS)
    for first in range(0, n_columns, CHUNK):
        which = first + tl.arange(0, CHUNK)
        row = tl.load(rows + family * n_columns + which, mask=which < n_columns, other=none)
        chosen = _chosen(columns, unit, here, first, PARENTS, CHUNK)
        _add(gradient, row, none, dimension, inside, tl.dot(tl.trans(chosen), back), DIMENSIONS)


@triton.jit  # type: ignore[untyped-decorator]
def _add(gradient, row, none, dimension, inside, slopes, DIMENSIONS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Slopes of some rows, added to what other instances say."""
    there = (row != none)[:, None] & inside[None, :]
    tl.atomic_add(gradient + row[:, None] * DIMENSIONS + dimension[None, :], slopes, mask=there, sem="relaxed")


@triton.jit  # type: ignore[untyped-decorator]
def _move(  # type: ignore[no-untyped-def]
    values, gradient, first, second, paces, step, n_steps, n_elements,
    FIRST: tl.constexpr, SECOND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adam, as in `Training`; the gradient is zero for the next step."""
    at = tl.load(step)
    move, soften, shrink = tl.load(paces + at), tl.load(paces + n_steps + at), tl.load(paces + 2 * n_steps + at)
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = place < n_elements
    slope = tl.load(gradient + place, mask=here, other=0.0)
    mean = tl.load(first + place, mask=here, other=0.0)
    mean += FIRST * (slope - mean)
    square = tl.load(second + place, mask=here, other=0.0)
    square += SECOND * (slope * slope - square)
    value = tl.load(values + place, mask=here, other=0.0) * shrink
    tl.store(first + place, mean, mask=here)
    tl.store(second + place, square, mask=here)
    tl.store(values + place, value - move * mean / (tl.sqrt(square) + soften), mask=here)
    tl.store(gradient + place, tl.zeros_like(slope), mask=here)
