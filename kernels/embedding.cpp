// Conditional probabilities from embeddings: P(x | pa, y) = softmax over the values x of W_x . act(sum V_pa + U_y).
//
// All embeddings are the rows of one matrix: the parent embeddings V of all feature values, the class embeddings U,
// the child embeddings W of all feature values.
#include "kernels.hpp"
#include "units.hpp"

namespace {

// Each unit as often as `repeats` says, in an order drawn from the seed (Fisher and Yates).
nb::ndarray<nb::numpy, uint32_t> shuffled(Vector<const int32_t> repeats, uint64_t seed, uint64_t stream) {
    std::vector<uint32_t> order;
    for (size_t unit = 0; unit < repeats.size(); ++unit) order.insert(order.end(), repeats(unit), uint32_t(unit));
    Random random(seed, stream);
    for (size_t left = order.size(); left > 1; --left) {
        check_interrupt_at(left);
        std::swap(order[left - 1], order[random.below(uint32_t(left))]);
    }
    const size_t count = order.size();
    return as_numpy(std::move(order), {count});
}

// Rows drawn from N(0, 1), then rows drawn from U(-bound, bound).
nb::ndarray<nb::numpy, float> initial(size_t n_normal, size_t n_uniform, size_t dimensions, double bound, uint64_t seed) {
    std::vector<float> values((n_normal + n_uniform) * dimensions);
    Random random(seed, 0);
    for (size_t i = 0; i < n_normal * dimensions; ++i) values[i] = static_cast<float>(random.normal());
    for (size_t i = n_normal * dimensions; i < values.size(); ++i)
        values[i] = static_cast<float>(bound * (2 * random.uniform() - 1));
    return as_numpy(std::move(values), {n_normal + n_uniform, dimensions});
}

// A family's rows, and what is asked of it.
struct Query {
    const float* rows;
    size_t width, child, n_values, classes, n_classes;
    const int32_t* parents;
    size_t n_parents;
    Activation activation;
};

INLINE void log_softmax(const float* RESTRICT logit, size_t n_values, double* RESTRICT shifted, double* RESTRICT out) {
    double largest = logit[0], total = 0;
    for (size_t value = 1; value < n_values; ++value) largest = std::max<double>(largest, logit[value]);
    for (size_t value = 0; value < n_values; ++value) shifted[value] = exponential(logit[value] - largest);
    for (size_t value = 0; value < n_values; ++value) total += shifted[value];
    const double below = largest + std::log(total);
    for (size_t value = 0; value < n_values; ++value) out[value] = logit[value] - below;
}

// Log-probabilities of the child's values for every class, for the combinations `begin` to `end` of parents.
MULTIVERSION void answer(const Query& query, size_t begin, size_t end, double* out) {
    const size_t width = query.width, rounded = rounded_up(query.n_values);
    std::vector<Block> sum(width / LANES), hidden(width / LANES), lanes(rounded), spare(rounded), logit(rounded / LANES);
    std::vector<double> shifted(query.n_values);
    for (size_t i = begin; i < end; ++i) {
        fill_zero(sum.data()->lane, width);
        for (size_t j = 0; j < query.n_parents; ++j) {
            const int32_t row = query.parents[i * query.n_parents + j];
            if (row >= 0) add(sum.data()->lane, query.rows + row * width, width);
        }
        for (size_t c = 0; c < query.n_classes; ++c) {
            fill_zero(hidden.data()->lane, width);
            add(hidden.data()->lane, sum.data()->lane, width);
            add(hidden.data()->lane, query.rows + (query.classes + c) * width, width);
            activate(hidden.data()->lane, width, query.activation);
            for (size_t value = 0; value < query.n_values; ++value)
                multiply(hidden.data()->lane, query.rows + (query.child + value) * width, width, width, width,
                         lanes[value].lane);
            sum_lanes(lanes.data()->lane, spare.data()->lane, query.n_values, logit.data()->lane);
            log_softmax(logit.data()->lane, query.n_values, shifted.data(),
                        out + (i * query.n_classes + c) * query.n_values);
        }
    }
}

nb::ndarray<nb::numpy, double> log_probabilities(Matrix<const float> values, size_t child, size_t n_values,
                                                 Matrix<const int32_t> parents, size_t classes, size_t n_classes,
                                                 int activation, int n_threads) {
    const size_t dimensions = values.shape(1), n_rows = values.shape(0), count = parents.shape(0);
    const size_t width = rounded_up(dimensions);
    std::vector<Block> rows(n_rows * width / LANES);
    for (size_t row = 0; row < n_rows; ++row)
        std::copy_n(values.data() + row * dimensions, dimensions, rows.data()->lane + row * width);
    std::vector<double> out(count * n_classes * n_values);
    const Query query{rows.data()->lane, width, child, n_values, classes, n_classes, parents.data(),
                      parents.shape(1), static_cast<Activation>(activation)};
    constexpr size_t AT_ONCE = 64;
    {
        nb::gil_scoped_release release;
        parallel_for((count + AT_ONCE - 1) / AT_ONCE, n_threads, [&](size_t i) {
            answer(query, i * AT_ONCE, std::min(count, (i + 1) * AT_ONCE), out.data());
        });
    }
    return as_numpy(std::move(out), {count, n_classes, n_values});
}

}  // namespace

void bind_embedding(nb::module_& module) {
    using namespace nb::literals;
    module.def("embedding_log_probabilities", &log_probabilities, "values"_a, "child"_a, "n_values"_a, "parents"_a,
               "classes"_a, "n_classes"_a, "activation"_a, "n_threads"_a,
               "Log P(value | parents, class): (combinations of parents, classes, values of the child).");
    module.def("shuffled_units", &shuffled, "repeats"_a, "seed"_a, "stream"_a,
               "Each unit as often as `repeats` says, shuffled.");
    module.def("initial_embeddings", &initial, "n_normal"_a, "n_uniform"_a, "dimensions"_a, "bound"_a, "seed"_a,
               "Rows from N(0, 1), then rows from U(-bound, bound).");
}
