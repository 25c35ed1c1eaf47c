// Training embeddings: mini-batches of units, softmax, gradients, Adam.
//
// Threads split the dimensions, not the units: everything but the logits is local to a dimension. The dimensions fall
// into a few parts, more for large batches, whose shares of a logit are added in a fixed order, so the same seed gives the
// same bits whatever the number of threads; more threads than parts are of no use.
#include "adam.hpp"
#include <span>

#include "barrier.hpp"
#include "kernels.hpp"
#include "units.hpp"

namespace {

constexpr size_t PARTS = 2, PARTS_OF_LARGE_BATCHES = 8, LARGE_BATCH = 512;

// How the dimensions are cut: whole blocks, in a number of parts that does not depend on the threads.
struct Cut {
    size_t dimensions, blocks, parts;

    Cut(size_t dimensions_, size_t batch_size)
        : dimensions(dimensions_), blocks((dimensions_ + LANES - 1) / LANES),
          parts(std::min(batch_size < LARGE_BATCH ? PARTS : PARTS_OF_LARGE_BATCHES, blocks)) {}

    size_t begin(size_t part) const { return blocks * part / parts * LANES; }
};

// One thread's dimensions of all parameters, and its room for one batch.
struct Shard {
    AdamRows rows;
    std::vector<size_t> group;  // (rows,) the group a row belongs to
    size_t width;               // floats of a row held here
    size_t hidden_width;        // floats of a unit's hidden layer held here
    size_t first_part, last_part;
    std::vector<size_t> part_begin;
    Batch batch;
    std::vector<Block> input_gradient;                // zero between steps
    std::vector<std::pair<size_t, size_t>> touched;   // inputs with a gradient in this step, and their gaps
    std::vector<Block> hidden, slope;                 // (items, hidden width)
    std::vector<Block> child_gradient, lanes, spare;
    std::vector<float> logit;
    double loss = 0;

    INLINE float* hidden_of(size_t i) { return hidden.data()->lane + i * hidden_width; }
    INLINE float* slope_of(size_t i) { return slope.data()->lane + i * hidden_width; }
};

// The shares of the logits, written by all threads and read by all: twice, so that one meeting a step is enough.
struct Exchange {
    std::vector<Block> shares;
    size_t parts, stride;

    Exchange(size_t parts_, size_t stride_) : shares(2 * parts_ * stride_ / LANES), parts(parts_), stride(stride_) {}

    INLINE float* part(size_t step, size_t part) { return shares.data()->lane + ((step % 2) * parts + part) * stride; }
};

INLINE void hide(Shard& shard, const Units& units, const Options& options, const AdamSteps& steps, size_t unit,
                 uint64_t place, size_t step, float* RESTRICT hidden) {
    fill_zero(hidden, shard.hidden_width);
    for_inputs(units, options, unit, place, [&](size_t row, size_t j) ALWAYS_INLINE {
        if (const size_t gap = shard.rows.touch(shard.group[row], step, steps)) shard.touched.push_back({row, gap});
        float* to = units.concatenated ? hidden + j * shard.width : hidden;
        add(to, shard.rows.values() + row * shard.width, shard.width);
    });
    if (!units.concatenated)
        activate(hidden, shard.width, options.activation);
    else if (shard.first_part == 0)
        hidden[units.width * shard.width] = 1;
}

// This thread's shares of the logits of one unit.
INLINE void share_logits(Shard& shard, const float* hidden, size_t child, size_t n_values, Exchange& exchange,
                         size_t step, size_t slot) {
    for (size_t part = shard.first_part; part < shard.last_part; ++part) {
        const size_t begin = shard.part_begin[part - shard.first_part];
        const size_t width = shard.part_begin[part - shard.first_part + 1] - begin;
        for (size_t value = 0; value < n_values; ++value)
            multiply(hidden + begin, shard.rows.values() + child + value * shard.hidden_width + begin, width,
                     shard.hidden_width, shard.width, shard.lanes[value].lane);
        sum_lanes(shard.lanes.data()->lane, shard.spare.data()->lane, n_values, exchange.part(step, part) + slot);
    }
}

INLINE void forward(Shard& shard, const Units& units, const Options& options, const AdamSteps& steps,
                    const uint32_t* order, uint64_t place, size_t step, Exchange& exchange) {
    Batch& batch = shard.batch;
    for (auto& family : batch.families) {
        const size_t child = units.child[family.number];
        family.gap = shard.rows.touch(shard.group[child], step, steps);
        for (size_t i = family.begin; i < family.end; ++i) {
            const size_t item = batch.order[i];
            hide(shard, units, options, steps, order[item], place + item, step, shard.hidden_of(i));
            share_logits(shard, shard.hidden_of(i), child * shard.width, units.n_values[family.number], exchange, step,
                         batch.slot[i]);
        }
    }
}

INLINE void add_shares(float* RESTRICT logit, Exchange& exchange, size_t step, size_t parts, size_t n_slots) {
    copy(logit, exchange.part(step, 0), n_slots);
    for (size_t part = 1; part < parts; ++part) add(logit, exchange.part(step, part), n_slots);
}

// From a unit's logits to the slopes of its loss, which is returned.
INLINE float softmax_backward(float* RESTRICT logit, size_t n_values, const Units& units, size_t unit, float scale) {
    float largest = logit[0];
    for (size_t value = 1; value < n_values; ++value) largest = std::max(largest, logit[value]);
    float weight = 0, loss = 0;
    for (int64_t cell = units.cells[unit]; cell < units.cells[unit + 1]; ++cell) {
        weight += units.weights[cell];
        loss += units.weights[cell] * (largest - logit[units.values[cell]]);
    }
    for (size_t i = 0; i < n_values; i += LANES)
        for (size_t l = i; l < i + LANES; ++l) logit[l] = exponential(logit[l] - largest);
    float total = 0;
    for (size_t value = 0; value < n_values; ++value) total += logit[value];
    const float share = weight * scale / total;
    for (size_t i = 0; i < n_values; i += LANES)
        for (size_t l = i; l < i + LANES; ++l) logit[l] *= share;
    for (int64_t cell = units.cells[unit]; cell < units.cells[unit + 1]; ++cell)
        logit[units.values[cell]] -= units.weights[cell] * scale;
    return loss + weight * std::log(total);
}

INLINE void backward_softmax(Shard& shard, const Units& units, const uint32_t* order, size_t count) {
    for (const auto& family : shard.batch.families)
        for (size_t i = family.begin; i < family.end; ++i)
            shard.loss += softmax_backward(shard.logit.data() + shard.batch.slot[i], units.n_values[family.number],
                                           units, order[shard.batch.order[i]], 1.0f / static_cast<float>(count));
}

// The gradients of a family's child rows, which go straight to the moments, and of its units' hidden layers.
INLINE void backward_child(Shard& shard, const Units& units, const AdamSteps& steps, const Batch::Family& family) {
    const size_t width = shard.width;
    float* gradient = shard.child_gradient.data()->lane;
    for (size_t i = family.begin; i < family.end; ++i) fill_zero(shard.slope_of(i), shard.hidden_width);
    for (size_t column = 0; column < shard.hidden_width; column += width)
        for (int32_t value = 0; value < units.n_values[family.number]; ++value) {
            const size_t begin = units.child[family.number] * width + value * shard.hidden_width + column;
            fill_zero(gradient, width);
            for (size_t i = family.begin; i < family.end; ++i)
                add_both_scaled(shard.logit[shard.batch.slot[i] + value], gradient, shard.hidden_of(i) + column,
                                shard.slope_of(i) + column, shard.rows.values() + begin, width);
            shard.rows.take(begin, width, gradient, steps, family.gap);
        }
}

INLINE void backward_inputs(Shard& shard, const Units& units, const Options& options, const AdamSteps& steps,
                            const uint32_t* order, size_t count, uint64_t place) {
    const size_t width = shard.width;
    for (size_t i = 0; i < count; ++i) {
        const size_t item = shard.batch.order[i];
        float* slope = shard.slope_of(i);
        if (!units.concatenated) activate_backward(slope, shard.hidden_of(i), width, options.activation);
        for_inputs(units, options, order[item], place + item, [&](size_t row, size_t j) ALWAYS_INLINE {
            add(shard.input_gradient.data()->lane + row * width, units.concatenated ? slope + j * width : slope, width);
        });
    }
    for (const auto& [row, gap] : shard.touched) {
        float* gradient = shard.input_gradient.data()->lane + row * width;
        shard.rows.take(row * width, width, gradient, steps, gap);
        fill_zero(gradient, width);
    }
    shard.touched.clear();
}

MULTIVERSION void run_steps(std::span<Shard> shards, const Units& units, const Options& options, const AdamSteps& steps,
                            const uint32_t* order, size_t n_items, uint64_t place, size_t step, size_t parts,
                            Exchange& exchange, Barrier& barrier) {
    for (size_t begin = 0; begin < n_items; begin += options.batch_size, ++step) {
        const size_t count = std::min(options.batch_size, n_items - begin);
        prefetch(units, order + begin, n_items - begin, options.batch_size);
        for (Shard& shard : shards) {
            arrange(shard.batch, units, order + begin, count);
            forward(shard, units, options, steps, order + begin, place + begin, step, exchange);
        }
        barrier.wait();
        for (Shard& shard : shards) {
            add_shares(shard.logit.data(), exchange, step, parts, shard.batch.slot[count]);
            backward_softmax(shard, units, order + begin, count);
            for (const auto& family : shard.batch.families) backward_child(shard, units, steps, family);
            backward_inputs(shard, units, options, steps, order + begin, count, place + begin);
        }
    }
}

// What the sizes of everything follow from.
struct Sizes {
    Cut cut;
    size_t n_rows, n_families, n_inputs, most_values, batch_size;

    Sizes(const Units& units, size_t n_rows_, size_t dimensions, size_t n_families_, size_t batch_size_)
        : cut(dimensions, batch_size_), n_rows(n_rows_), n_families(n_families_), n_inputs(n_rows_), most_values(0),
          batch_size(batch_size_) {
        for (size_t family = 0; family < n_families; ++family) {
            n_inputs = std::min<size_t>(n_inputs, units.child[family]);
            most_values = std::max<size_t>(most_values, units.n_values[family]);
        }
    }
};

// A group for each input row, and one for all values of a child.
std::vector<AdamRows::Group> groups_of(const Units& units, const Sizes& sizes, size_t width,
                                       std::vector<size_t>& group) {
    std::vector<size_t> length(sizes.n_rows, 1);
    for (size_t family = 0; family < sizes.n_families; ++family)
        length[units.child[family]] = units.n_values[family] * units.hidden_rows();
    std::vector<AdamRows::Group> groups;
    for (size_t row = 0; row < sizes.n_rows;) {
        const size_t count = length[row];
        std::fill_n(group.begin() + row, count, groups.size());
        groups.push_back({row * width, count * width});
        row += count;
    }
    return groups;
}

Shard make_shard(const Units& units, const Sizes& sizes, size_t first_part, size_t last_part) {
    const Cut& cut = sizes.cut;
    const size_t width = cut.begin(last_part) - cut.begin(first_part), hidden_width = units.hidden_rows() * width;
    std::vector<size_t> group(sizes.n_rows);
    auto groups = groups_of(units, sizes, width, group);
    Shard shard{AdamRows(std::move(groups), sizes.n_rows * width), std::move(group), width, hidden_width, first_part,
                last_part};
    for (size_t part = first_part; part <= last_part; ++part)
        shard.part_begin.push_back(cut.begin(part) - cut.begin(first_part));
    shard.batch.order.resize(sizes.batch_size);
    shard.batch.slot.resize(sizes.batch_size + 1);
    shard.batch.position.assign(sizes.n_families, Batch::NONE);
    shard.input_gradient.resize(sizes.n_inputs * width / LANES);
    shard.hidden.resize(sizes.batch_size * hidden_width / LANES);
    shard.slope.resize(sizes.batch_size * hidden_width / LANES);
    shard.child_gradient.resize(width / LANES);
    shard.lanes.resize(rounded_up(sizes.most_values));
    shard.spare.resize(rounded_up(sizes.most_values));
    shard.logit.resize(sizes.batch_size * rounded_up(sizes.most_values));
    return shard;
}

// Copy this shard's dimensions of a matrix in or out.
template <bool OUT>
void copy_dimensions(float* local, size_t width, Matrix<float>& matrix, size_t begin) {
    const size_t n_rows = matrix.shape(0), dimensions = matrix.shape(1), count = std::min(width, dimensions - begin);
    for (size_t row = 0; row < n_rows; ++row) {
        float* inside = local + row * width;
        float* outside = matrix.data() + row * dimensions + begin;
        if constexpr (OUT)
            std::copy_n(inside, count, outside);
        else
            std::copy_n(outside, count, inside);
    }
}

template <bool OUT>
void copy_shard(Shard& shard, const Cut& cut, Matrix<float>& values, Matrix<float>& first, Matrix<float>& second) {
    const size_t begin = cut.begin(shard.first_part);
    copy_dimensions<OUT>(shard.rows.values(), shard.width, values, begin);
    copy_dimensions<OUT>(shard.rows.first_moments(), shard.width, first, begin);
    copy_dimensions<OUT>(shard.rows.second_moments(), shard.width, second, begin);
}

constexpr size_t STEPS_TOGETHER = 128;  // between two looks at whether the threads run side by side

// So few steps at a time that an interrupt is noticed within a fraction of a second.
size_t steps_at_a_time(const Units& units, const Sizes& sizes) {
    const size_t hidden = units.hidden_rows() * sizes.cut.dimensions;
    const size_t rows = std::min(sizes.n_rows, sizes.batch_size * (units.width + sizes.most_values * units.hidden_rows()));
    const size_t per_step = sizes.batch_size * (units.width + 3 * sizes.most_values + 20) * hidden +
                            rows * sizes.cut.dimensions;
    return std::clamp<size_t>(1'000'000'000 / per_step, 16, 4096);
}

double train(Matrix<float> values, Matrix<float> first, Matrix<float> second, size_t steps_before,
             Vector<const uint32_t> order, Vector<const double> rates, Vector<const int32_t> child,
             Vector<const int32_t> n_values, Vector<const int32_t> family, Matrix<const int32_t> inputs,
             Vector<const int64_t> cells, Vector<const int32_t> codes, Vector<const float> weights, size_t n_parents,
             bool concatenated, size_t batch_size, int activation, double weight_decay, double dropout, uint64_t seed,
             int n_threads) {
    const Units units{child.data(), n_values.data(), family.data(), inputs.data(), cells.data(), codes.data(),
                      weights.data(), inputs.shape(1), n_parents, concatenated};
    const Options options{static_cast<Activation>(activation), batch_size,
                          static_cast<uint32_t>(dropout * 4294967296.0), scrambled(seed)};
    const Sizes sizes(units, values.shape(0), values.shape(1), child.size(), batch_size);
    const size_t parts = sizes.cut.parts, used = std::clamp<size_t>(std::max(n_threads, 1), 1, parts);
    Exchange exchange(parts, batch_size * rounded_up(sizes.most_values));
    std::vector<Shard> shards;
    for (size_t thread = 0; thread < used; ++thread) {
        shards.push_back(make_shard(units, sizes, parts * thread / used, parts * (thread + 1) / used));
        copy_shard<false>(shards.back(), sizes.cut, values, first, second);
    }
    const size_t stretch = steps_at_a_time(units, sizes);
    Company company(used);
    for (size_t step = 0; step < rates.size(); step += stretch) {
        const size_t n_steps = std::min(stretch, rates.size() - step), begin = step * batch_size;
        const AdamSteps steps(rates.data() + step, n_steps, steps_before + step, {weight_decay});
        for (size_t done = 0; done < n_steps; done += STEPS_TOGETHER) {
            const size_t first = begin + done * batch_size, n_items = std::min(n_steps - done, STEPS_TOGETHER) * batch_size;
            company.work([&](size_t thread, size_t threads, Barrier& barrier) {
                const size_t each = used / threads;  // one, or all
                run_steps({&shards[thread * each], each}, units, options, steps, order.data() + first,
                          std::min(n_items, order.size() - first), first, done + 1, parts, exchange, barrier);
            });
        }
        for (auto& shard : shards) shard.rows.settle(n_steps + 1, steps);
        check_interrupt();
    }
    for (auto& shard : shards) copy_shard<true>(shard, sizes.cut, values, first, second);
    return shards[0].loss;
}

}  // namespace

void bind_embedding_training(nb::module_& module) {
    using namespace nb::literals;
    module.def("train_embeddings", &train, "values"_a, "first_moments"_a, "second_moments"_a, "steps_before"_a,
               "order"_a, "rates"_a, "child"_a, "n_values"_a, "family"_a, "inputs"_a, "cells"_a, "codes"_a,
               "weights"_a, "n_parents"_a, "concatenated"_a, "batch_size"_a, "activation"_a, "weight_decay"_a,
               "dropout"_a, "seed"_a, "n_threads"_a, nb::call_guard<nb::gil_scoped_release>(),
               "Train in place on the units in `order`, one learning rate a step; returns the weighted sum of losses.");
}
