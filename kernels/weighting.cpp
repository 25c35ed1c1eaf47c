// Log-loss of weighted sums of log-probabilities, with its gradient.
//
// Terms are stored for LANES rows side by side, (blocks, families, classes, LANES), so that every loop is over rows.
#include "kernels.hpp"
#include "lanes.hpp"

#include <cmath>

namespace {

constexpr size_t BLOCKS_A_SUM = 64;  // sums of floats are short, sums of these are doubles

struct Rows {
    const float* terms;
    const uint32_t* classes;
    const double* weights;
    size_t n_rows, n_families, n_classes;

    size_t width() const { return n_families * n_classes; }
    const float* block(size_t number) const { return terms + number * width() * LANES; }
};

// Logits of a block of rows: bias + sum over families of weight * term.
INLINE void add_up(const float* RESTRICT terms, const float* RESTRICT weights, const float* RESTRICT bias,
                   size_t n_families, size_t n_classes, float* RESTRICT logits) {
    for (size_t c = 0; c < n_classes; ++c)
        for (size_t l = 0; l < LANES; ++l) logits[c * LANES + l] = bias[c];
    for (size_t f = 0; f < n_families; ++f) {
        const float* term = terms + f * n_classes * LANES;
        const float* weight = weights + f * n_classes;
        for (size_t c = 0; c < n_classes; ++c)
            for (size_t l = 0; l < LANES; ++l) logits[c * LANES + l] += weight[c] * term[c * LANES + l];
    }
}

// Logits become probabilities; returns the largest logit and log of the sum in `below`.
INLINE void softmax(float* RESTRICT logits, size_t n_classes, float* RESTRICT largest, float* RESTRICT total) {
    for (size_t l = 0; l < LANES; ++l) largest[l] = logits[l];
    for (size_t c = 1; c < n_classes; ++c)
        for (size_t l = 0; l < LANES; ++l)
            largest[l] = logits[c * LANES + l] > largest[l] ? logits[c * LANES + l] : largest[l];
    for (size_t l = 0; l < LANES; ++l) total[l] = 0;
    for (size_t c = 0; c < n_classes; ++c)
        for (size_t l = 0; l < LANES; ++l) {
            logits[c * LANES + l] = exponential(logits[c * LANES + l] - largest[l]);
            total[l] += logits[c * LANES + l];
        }
    for (size_t c = 0; c < n_classes; ++c)
        for (size_t l = 0; l < LANES; ++l) logits[c * LANES + l] /= total[l];
}

INLINE void multiply_up(const float* RESTRICT terms, const float* RESTRICT slopes, size_t n_families, size_t n_classes,
                        float* RESTRICT gradient) {
    for (size_t f = 0; f < n_families; ++f) {
        const size_t at = f * n_classes * LANES;
        for (size_t i = 0; i < n_classes * LANES; i += LANES)
            for (size_t l = 0; l < LANES; ++l) gradient[at + i + l] += slopes[i + l] * terms[at + i + l];
    }
}

void flush(std::vector<Block>& blocks, size_t count, double* out) {
    for (size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (float& value : blocks[i].lane) sum += value, value = 0;
        out[i] += sum;
    }
}

// Returns the loss; the gradient is that of the weights, then of the bias.
MULTIVERSION double loss_of(const Rows& rows, const float* weights, const float* bias, double* gradient) {
    const size_t width = rows.width(), n_classes = rows.n_classes;
    std::vector<Block> logits(n_classes), sums(width + n_classes);
    std::fill_n(gradient, width + n_classes, 0.0);
    float largest[LANES], total[LANES], kept[LANES];
    double loss = 0;
    const size_t n_blocks = (rows.n_rows + LANES - 1) / LANES;
    for (size_t b = 0; b < n_blocks; ++b) {
        float* logit = logits.data()->lane;
        add_up(rows.block(b), weights, bias, rows.n_families, n_classes, logit);
        const size_t count = std::min(LANES, rows.n_rows - b * LANES);
        for (size_t l = 0; l < count; ++l) kept[l] = logit[rows.classes[b * LANES + l] * LANES + l];
        softmax(logit, n_classes, largest, total);
        for (size_t l = 0; l < count; ++l) {
            const double below = static_cast<double>(largest[l]) + std::log(static_cast<double>(total[l]));
            loss += rows.weights[b * LANES + l] * (below - static_cast<double>(kept[l]));
            logit[rows.classes[b * LANES + l] * LANES + l] -= 1.0f;
        }
        float weight[LANES] = {};
        for (size_t l = 0; l < count; ++l) weight[l] = static_cast<float>(rows.weights[b * LANES + l]);
        for (size_t c = 0; c < n_classes; ++c)
            for (size_t l = 0; l < LANES; ++l) logit[c * LANES + l] *= weight[l];
        multiply_up(rows.block(b), logit, rows.n_families, n_classes, sums.data()->lane);
        add(sums[width].lane, logit, n_classes * LANES);
        if (b % BLOCKS_A_SUM == BLOCKS_A_SUM - 1 || b + 1 == n_blocks) flush(sums, width + n_classes, gradient);
    }
    return loss;
}

MULTIVERSION void posteriors_of(const Rows& rows, const float* weights, const float* bias, float* out) {
    const size_t n_classes = rows.n_classes;
    std::vector<Block> logits(n_classes);
    float largest[LANES], total[LANES];
    for (size_t first = 0; first < rows.n_rows; first += LANES) {
        float* logit = logits.data()->lane;
        add_up(rows.block(first / LANES), weights, bias, rows.n_families, n_classes, logit);
        softmax(logit, n_classes, largest, total);
        const size_t count = std::min(LANES, rows.n_rows - first);
        for (size_t l = 0; l < count; ++l)
            for (size_t c = 0; c < n_classes; ++c) out[(first + l) * n_classes + c] = logit[c * LANES + l];
    }
}

using Terms = nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

Rows read_rows(const Terms& terms, const uint32_t* classes, const double* weights, size_t n_rows) {
    return {terms.data(), classes, weights, n_rows, terms.shape(1), terms.shape(2)};
}

std::vector<float> as_floats(const double* values, size_t count) { return {values, values + count}; }

nb::tuple weighted_loss(Terms terms, Vector<const uint32_t> classes, Vector<const double> row_weights,
                        Vector<const double> parameters) {
    const Rows rows = read_rows(terms, classes.data(), row_weights.data(), classes.shape(0));
    const size_t width = rows.width();
    if (terms.shape(0) != (classes.shape(0) + LANES - 1) / LANES || parameters.shape(0) != width + rows.n_classes)
        throw nb::value_error("terms, classes and parameters do not fit together");
    std::vector<double> gradient(width + rows.n_classes);
    double loss;
    {
        nb::gil_scoped_release release;
        const auto values = as_floats(parameters.data(), width + rows.n_classes);
        loss = loss_of(rows, values.data(), values.data() + width, gradient.data());
    }
    const size_t count = gradient.size();
    return nb::make_tuple(loss, as_numpy(std::move(gradient), {count}));
}

nb::ndarray<nb::numpy, float> weighted_posteriors(Terms terms, Vector<const double> parameters, size_t n_rows) {
    const Rows rows = read_rows(terms, nullptr, nullptr, n_rows);
    std::vector<float> out(n_rows * rows.n_classes);
    {
        nb::gil_scoped_release release;
        const auto values = as_floats(parameters.data(), rows.width() + rows.n_classes);
        posteriors_of(rows, values.data(), values.data() + rows.width(), out.data());
    }
    return as_numpy(std::move(out), {n_rows, rows.n_classes});
}

}  // namespace

void bind_weighting(nb::module_& module) {
    module.def("weighted_loss", &weighted_loss, nb::arg("terms").noconvert(), nb::arg("classes").noconvert(),
               nb::arg("row_weights").noconvert(), nb::arg("parameters").noconvert());
    module.def("weighted_posteriors", &weighted_posteriors, nb::arg("terms").noconvert(),
               nb::arg("parameters").noconvert(), nb::arg("n_rows"));
}
