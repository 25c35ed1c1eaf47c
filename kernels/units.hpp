// What training and evaluating embeddings share, and what a training unit is.
#pragma once

#include "lanes.hpp"
#include "random.hpp"

#include <algorithm>
#include <vector>

enum class Activation { identity, tanh, relu };

INLINE void activate(float* RESTRICT row, size_t width, Activation activation) {
    if (activation == Activation::tanh)
        for (size_t i = 0; i < width; i += LANES)
            for (size_t l = i; l < i + LANES; ++l) row[l] = hyperbolic_tangent(row[l]);
    else if (activation == Activation::relu)
        for (size_t i = 0; i < width; i += LANES)
            for (size_t l = i; l < i + LANES; ++l) row[l] = row[l] > 0 ? row[l] : 0;
}

// From the slope of the activation's value to that of its argument.
INLINE void activate_backward(float* RESTRICT slope, const float* RESTRICT row, size_t width, Activation activation) {
    if (activation == Activation::tanh)
        for (size_t i = 0; i < width; i += LANES)
            for (size_t l = i; l < i + LANES; ++l) slope[l] *= 1 - row[l] * row[l];
    else if (activation == Activation::relu)
        for (size_t i = 0; i < width; i += LANES)
            for (size_t l = i; l < i + LANES; ++l) slope[l] = row[l] > 0 ? slope[l] : 0;
}

INLINE size_t rounded_up(size_t count) { return (count + LANES - 1) / LANES * LANES; }

// The units and what a unit's numbers mean.
struct Units {
    const int32_t* child;      // (families,) first row of the child's values
    const int32_t* n_values;   // (families,)
    const int32_t* family;     // (units,)
    const int32_t* inputs;     // (units, width) rows, -1 for none
    const int64_t* cells;      // (units + 1,)
    const int32_t* values;     // (cells,) the child's code
    const float* weights;      // (cells,)
    size_t width;
    size_t n_parents;          // rows below are parents, which dropout may drop
    bool concatenated;         // inputs stand side by side, then a one, instead of being summed and activated

    // Rows that a unit's hidden layer, and a value's weights for it, are long.
    INLINE size_t hidden_rows() const { return concatenated ? width + 1 : 1; }
};

struct Options {
    Activation activation;
    size_t batch_size;
    uint32_t dropout;  // out of 2^32
    uint64_t seed;
};

// The units of a batch, those of a family together. All threads arrange alike.
struct Batch {
    struct Family {
        size_t number, begin, end, gap;
    };

    std::vector<uint32_t> order;     // (items,) positions in the batch
    std::vector<Family> families;    // those that occur, by first occurrence
    std::vector<uint32_t> position;  // (families,) where a family stands in `families`, or NONE
    std::vector<size_t> slot;        // (items + 1,) where the logits of an item of `order` begin

    static constexpr uint32_t NONE = ~0u;
};

// Units come in random order: ask for what the next batches will read, one level of indirection a batch.
INLINE void prefetch(const Units& units, const uint32_t* order, size_t n_items, size_t batch_size) {
    for (size_t i = 2 * batch_size; i < std::min(3 * batch_size, n_items); ++i) {
        PREFETCH(units.family + order[i]);
        PREFETCH(units.cells + order[i]);
        PREFETCH(units.inputs + order[i] * units.width);
    }
    for (size_t i = batch_size; i < std::min(2 * batch_size, n_items); ++i) {
        PREFETCH(units.values + units.cells[order[i]]);
        PREFETCH(units.weights + units.cells[order[i]]);
    }
}

INLINE void arrange(Batch& batch, const Units& units, const uint32_t* order, size_t count) {
    for (const auto& family : batch.families) batch.position[family.number] = Batch::NONE;
    batch.families.clear();
    for (size_t item = 0; item < count; ++item) {
        uint32_t& position = batch.position[units.family[order[item]]];
        if (position == Batch::NONE) {
            position = static_cast<uint32_t>(batch.families.size());
            batch.families.push_back({static_cast<size_t>(units.family[order[item]]), 0, 0, 0});
        }
        ++batch.families[position].end;
    }
    size_t begin = 0, slot = 0;
    for (auto& family : batch.families) {
        const size_t size = family.end, room = rounded_up(units.n_values[family.number]);
        for (size_t i = begin; i < begin + size; ++i, slot += room) batch.slot[i] = slot;
        family.begin = family.end = begin;
        begin += size;
    }
    batch.slot[count] = slot;
    for (size_t item = 0; item < count; ++item)
        batch.order[batch.families[batch.position[units.family[order[item]]]].end++] = static_cast<uint32_t>(item);
}

INLINE bool dropped(const Units& units, const Options& options, int32_t row, uint64_t place) {
    return options.dropout && static_cast<size_t>(row) < units.n_parents &&
           (scrambled(options.seed + place * 0x9E3779B97F4A7C15u) >> 32) < options.dropout;
}

// Call `visit(row, j)` for the inputs of the unit at a place of the epoch.
template <typename Visit>
INLINE void for_inputs(const Units& units, const Options& options, size_t unit, uint64_t place, Visit&& visit) {
    for (size_t j = 0; j < units.width; ++j) {
        const int32_t row = units.inputs[unit * units.width + j];
        if (row >= 0 && !dropped(units, options, row, place * units.width + j)) visit(static_cast<size_t>(row), j);
    }
}
