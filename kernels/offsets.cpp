// What cells of families add to the log-odds of rows: softmax regression on indicators of cells, by AdaGrad.
#include "kernels.hpp"
#include "lanes.hpp"

#include <cmath>

namespace {

struct Rows {
    const uint32_t* cells;    // (rows, slots); 0 is a cell that is not learned
    const float* base;        // (rows, classes) what is said already
    const uint32_t* classes;  // (rows,)
    const double* weights;    // (rows,)
    size_t n_slots, n_classes;
};

struct Learned {
    float* offsets;      // (cells, classes)
    float* squares;      // (cells, classes) sums of squared slopes
    const float* ridge;  // (cells,) the pull to zero at each visit
};

// Logits become the slopes of the loss; returns the loss.
INLINE double slopes_of(float* RESTRICT logits, size_t own, size_t n_classes, float weight) {
    float largest = logits[0], total = 0;
    for (size_t c = 1; c < n_classes; ++c) largest = logits[c] > largest ? logits[c] : largest;
    const float kept = logits[own] - largest;
    for (size_t c = 0; c < n_classes; ++c) logits[c] = exponential(logits[c] - largest);
    for (size_t c = 0; c < n_classes; ++c) total += logits[c];
    for (size_t c = 0; c < n_classes; ++c) logits[c] *= weight / total;
    logits[own] -= weight;
    return static_cast<double>(weight) * (std::log(static_cast<double>(total)) - static_cast<double>(kept));
}

template <size_t N_CLASSES>
INLINE double visit(const Rows& rows, const Learned& learned, const uint32_t* order, size_t n_visits, float rate,
                    float* RESTRICT slopes) {
    const size_t width = N_CLASSES ? N_CLASSES : rows.n_classes;
    double loss = 0;
    for (size_t v = 0; v < n_visits; ++v) {
        const size_t row = order[v];
        const uint32_t* cells = rows.cells + row * rows.n_slots;
        for (size_t c = 0; c < width; ++c) slopes[c] = rows.base[row * width + c];
        for (size_t s = 0; s < rows.n_slots; ++s) {
            const float* RESTRICT offset = learned.offsets + cells[s] * width;
            for (size_t c = 0; c < width; ++c) slopes[c] += offset[c];
        }
        loss += slopes_of(slopes, rows.classes[row], width, static_cast<float>(rows.weights[row]));
        for (size_t s = 0; s < rows.n_slots; ++s) {
            if (cells[s] == 0) continue;
            float* RESTRICT offset = learned.offsets + cells[s] * width;
            float* RESTRICT square = learned.squares + cells[s] * width;
            const float ridge = learned.ridge[cells[s]];
            for (size_t c = 0; c < width; ++c) {
                const float slope = slopes[c] + ridge * offset[c];
                square[c] += slope * slope;
                offset[c] -= rate * slope / std::sqrt(square[c]);
            }
        }
    }
    return loss;
}

MULTIVERSION double pass(const Rows& rows, const Learned& learned, const uint32_t* order, size_t n_visits, float rate) {
    std::vector<float> slopes(rows.n_classes);
    switch (rows.n_classes) {
        case 2: return visit<2>(rows, learned, order, n_visits, rate, slopes.data());
        case 3: return visit<3>(rows, learned, order, n_visits, rate, slopes.data());
        default: return visit<0>(rows, learned, order, n_visits, rate, slopes.data());
    }
}

// One pass over the rows in the given order; returns the loss before each row's own step, summed.
double train_offsets(Matrix<float> offsets, Matrix<float> squares, Vector<const float> ridge,
                     Matrix<const uint32_t> cells, Matrix<const float> base, Vector<const uint32_t> classes,
                     Vector<const double> weights, Vector<const uint32_t> order, double rate) {
    const size_t n_rows = cells.shape(0), n_cells = offsets.shape(0), n_classes = offsets.shape(1);
    if (squares.shape(0) != n_cells || squares.shape(1) != n_classes || ridge.shape(0) != n_cells ||
        base.shape(0) != n_rows || base.shape(1) != n_classes || classes.shape(0) != n_rows ||
        weights.shape(0) != n_rows)
        throw nb::value_error("offsets, cells, classes and weights do not fit together");
    const auto below = [](const auto& values, size_t count, size_t limit) {
        return std::all_of(values.data(), values.data() + count, [&](uint32_t value) { return value < limit; });
    };
    if (!below(cells, cells.size(), n_cells) || !below(classes, n_rows, n_classes) ||
        !below(order, order.shape(0), n_rows))
        throw nb::value_error("a cell, a class or a row is not known");
    const Rows rows{cells.data(), base.data(), classes.data(), weights.data(), cells.shape(1), n_classes};
    const Learned learned{offsets.data(), squares.data(), ridge.data()};
    nb::gil_scoped_release release;
    return pass(rows, learned, order.data(), order.shape(0), static_cast<float>(rate));
}

}  // namespace

void bind_offsets(nb::module_& module) {
    module.def("train_offsets", &train_offsets, nb::arg("offsets").noconvert(), nb::arg("squares").noconvert(),
               nb::arg("ridge").noconvert(), nb::arg("cells").noconvert(), nb::arg("base").noconvert(),
               nb::arg("classes").noconvert(), nb::arg("weights").noconvert(), nb::arg("order").noconvert(),
               nb::arg("rate"));
}
