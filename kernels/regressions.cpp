// Log-densities of numbers, each a linear regression on a few others in every class: Student's t around the line.
//
//     log P(x | z, y) = peak_y - tail_y log(1 + (x - a_y - b_y z)^2 / spread_y)
//
// minus the mean over the classes, so that a weight can stand before it. A missing number is the mean, zero, where it
// is a parent; where it is the child, the term is left out.
#include <cmath>
#include <limits>

#include "kernels.hpp"
#include "lanes.hpp"

namespace {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Inverses = nb::ndarray<const double, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Terms = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

// log(x) to 3e-7, for normal x above zero.
INLINE float logarithm(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x) - 0x3F3504F3u;  // the mantissa runs from sqrt(1/2) to sqrt(2)
    const float power = static_cast<float>(static_cast<int32_t>(bits) >> 23);
    const float mantissa = std::bit_cast<float>((bits & 0x007FFFFFu) + 0x3F3504F3u);
    const float s = (mantissa - 1.0f) / (mantissa + 1.0f), square = s * s;
    const float series = 1.0f + square * (1.0f / 3 + square * (0.2f + square * (1.0f / 7 + square * (1.0f / 9))));
    return 2.0f * s * series + power * 0.693147181f;
}

// The numbers behind the codes, and the regressions between them.
struct Regressions {
    const int64_t* features;  // (numbers,) the column of codes of each
    const int64_t* starts;    // (numbers + 1,) where its values start
    const float* values;      // of each code; NaN is missing
    const int64_t* children;  // (families,) which number
    const int64_t* parents;   // (families, width), -1 is none
    const float* slopes;      // (families, classes, width + 1), the first the intercept
    const float* shapes;      // (families, classes, 3): peak, tail, 1 / spread
    size_t n_numbers, n_families, n_classes, width;
};

// The numbers of a few rows, (numbers, LANES).
template <typename Code>
INLINE void gather(const Regressions& all, const Code* codes, size_t n_rows, size_t first, size_t count, Block* known,
                   Block* numbers) {
    for (size_t number = 0; number < all.n_numbers; ++number) {
        const Code* column = codes + static_cast<size_t>(all.features[number]) * n_rows + first;
        const float* values = all.values + all.starts[number];
        const size_t n_values = static_cast<size_t>(all.starts[number + 1] - all.starts[number]);
        for (size_t l = 0; l < LANES; ++l) {
            const bool is_there = l < count && column[l] < n_values && !std::isnan(values[column[l]]);
            known[number].lane[l] = is_there ? 1.0f : 0.0f;
            numbers[number].lane[l] = is_there ? values[column[l]] : 0.0f;
        }
    }
}

// Centred terms of one family, (classes, LANES).
INLINE void family_terms(const Regressions& all, size_t family, const Block* known, const Block* numbers, Block* terms) {
    const size_t child = static_cast<size_t>(all.children[family]);
    const int64_t* parents = all.parents + family * all.width;
    Block mean;
    for (size_t c = 0; c < all.n_classes; ++c) {
        const float* slope = all.slopes + (family * all.n_classes + c) * (all.width + 1);
        const float* shape = all.shapes + (family * all.n_classes + c) * 3;
        Block rest;
        for (size_t l = 0; l < LANES; ++l) rest.lane[l] = numbers[child].lane[l] - slope[0];
        for (size_t p = 0; p < all.width && parents[p] >= 0; ++p)
            for (size_t l = 0; l < LANES; ++l) rest.lane[l] -= slope[p + 1] * numbers[parents[p]].lane[l];
        for (size_t l = 0; l < LANES; ++l) {
            terms[c].lane[l] = shape[0] - shape[1] * logarithm(1.0f + rest.lane[l] * rest.lane[l] * shape[2]);
            mean.lane[l] += terms[c].lane[l];
        }
    }
    for (size_t c = 0; c < all.n_classes; ++c)
        for (size_t l = 0; l < LANES; ++l)
            terms[c].lane[l] = known[child].lane[l] *
                               (terms[c].lane[l] - mean.lane[l] / static_cast<float>(all.n_classes));
}

template <typename Code>
MULTIVERSION void add_terms(const Regressions& all, const Code* codes, size_t n_rows, const double* weights,
                            double* out) {
    std::vector<Block> known(all.n_numbers), numbers(all.n_numbers), terms(all.n_classes);
    std::vector<double> sums(all.n_classes * LANES);
    for (size_t first = 0; first < n_rows; first += LANES) {
        const size_t count = std::min(LANES, n_rows - first);
        gather(all, codes, n_rows, first, count, known.data(), numbers.data());
        std::fill(sums.begin(), sums.end(), 0.0);
        for (size_t family = 0; family < all.n_families; ++family) {
            family_terms(all, family, known.data(), numbers.data(), terms.data());
            for (size_t c = 0; c < all.n_classes; ++c) {
                const double weight = weights[family * all.n_classes + c];
                for (size_t l = 0; l < LANES; ++l)
                    sums[c * LANES + l] += weight * static_cast<double>(terms[c].lane[l]);
            }
        }
        for (size_t l = 0; l < count; ++l)
            for (size_t c = 0; c < all.n_classes; ++c) out[(first + l) * all.n_classes + c] += sums[c * LANES + l];
    }
}

// What the density of a class becomes without a row that was in it.
struct WithoutOne {
    const double* inverses;  // (families, classes, width + 1, width + 1) of the weighted squares
    const double* squares;   // (families, classes) sum of squared residuals
    const double* freedom;   // (classes,)
    double floor;            // smallest sum of squares, for each degree of freedom
    double most_freedom;     // of the tails
};

double log_peak(double freedom) {
    return std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2) - 0.5 * std::log(freedom * 3.14159265358979324);
}

INLINE double without_one(const Regressions& all, const WithoutOne& one, size_t family, size_t own, size_t lane,
                          double removed, double peak, const Block* numbers) {
    const size_t size = all.width + 1, at = family * all.n_classes + own;
    const int64_t* parents = all.parents + family * all.width;
    const double* inverse = one.inverses + at * size * size;
    const float* slope = all.slopes + at * size;
    double z[64] = {1.0};
    double rest = static_cast<double>(numbers[all.children[family]].lane[lane]) - static_cast<double>(slope[0]);
    size_t n = 1;
    for (; n <= all.width && parents[n - 1] >= 0; ++n) {
        z[n] = static_cast<double>(numbers[parents[n - 1]].lane[lane]);
        rest -= static_cast<double>(slope[n]) * z[n];
    }
    double leverage = 0;
    for (size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (size_t j = 0; j < n; ++j) sum += inverse[i * size + j] * z[j];
        leverage += z[i] * sum;
    }
    const double left = std::max(1.0 - removed * leverage, 1e-3), freedom = one.freedom[own] - removed;
    const double squares = std::max(one.squares[at] - removed * rest * rest / left, one.floor * freedom);
    rest /= left;
    const double tails = std::min(freedom, one.most_freedom);
    rest *= rest * freedom / (tails * squares);
    return peak - 0.5 * std::log(squares / freedom) - (tails + 1) / 2 * std::log1p(rest);
}

// The log-density of one class, not centred.
INLINE double density(const Regressions& all, size_t family, size_t label, size_t lane, const Block* numbers) {
    const float* slope = all.slopes + (family * all.n_classes + label) * (all.width + 1);
    const float* shape = all.shapes + (family * all.n_classes + label) * 3;
    const int64_t* parents = all.parents + family * all.width;
    float rest = numbers[all.children[family]].lane[lane] - slope[0];
    for (size_t p = 0; p < all.width && parents[p] >= 0; ++p) rest -= slope[p + 1] * numbers[parents[p]].lane[lane];
    return static_cast<double>(shape[0] - shape[1] * logarithm(1.0f + rest * rest * shape[2]));
}

template <typename Code>
MULTIVERSION void leave_out(const Regressions& all, const WithoutOne& one, const Code* codes, const Code* classes,
                            const double* removed, size_t n_rows, float* terms, size_t first_family, size_t n_terms) {
    std::vector<Block> known(all.n_numbers), numbers(all.n_numbers), own_terms(all.n_classes);
    std::vector<double> peaks(all.n_classes);
    const auto peak_without = [&](size_t c, double weight) {
        return log_peak(std::clamp(one.freedom[c] - weight, 1e-3, one.most_freedom));
    };
    for (size_t c = 0; c < all.n_classes; ++c) peaks[c] = peak_without(c, 1.0);
    const float share = 1.0f / static_cast<float>(all.n_classes);
    for (size_t first = 0; first < n_rows; first += LANES) {
        const size_t count = std::min(LANES, n_rows - first);
        gather(all, codes, n_rows, first, count, known.data(), numbers.data());
        for (size_t family = 0; family < all.n_families; ++family) {
            float* target = terms + ((first / LANES) * n_terms + first_family + family) * all.n_classes * LANES;
            family_terms(all, family, known.data(), numbers.data(), own_terms.data());
            const Block& is_known = known[all.children[family]];
            for (size_t l = 0; l < count; ++l) {
                if (is_known.lane[l] == 0.0f) continue;
                const size_t own = classes[first + l];
                const double weight = removed[first + l];
                const double peak = weight == 1.0 ? peaks[own] : peak_without(own, weight);
                // The terms are centred: what the own class gains, the mean gains its share of.
                const double before = density(all, family, own, l, numbers.data());
                const double after = without_one(all, one, family, own, l, weight, peak, numbers.data());
                const float change = static_cast<float>(after - before);
                for (size_t c = 0; c < all.n_classes; ++c) own_terms[c].lane[l] -= share * change;
                own_terms[own].lane[l] += change;
            }
            for (size_t c = 0; c < all.n_classes; ++c)
                for (size_t l = 0; l < LANES; ++l) target[c * LANES + l] = own_terms[c].lane[l];
        }
    }
}

Regressions read(Vector<const int64_t> features, Vector<const int64_t> starts, Vector<const float> values,
                 Vector<const int64_t> children, Matrix<const int64_t> parents,
                 nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> slopes,
                 nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> shapes) {
    if (parents.shape(1) >= 64) throw nb::value_error("a regression has at most 63 parents");
    if (slopes.shape(2) != parents.shape(1) + 1 || shapes.shape(2) != 3 || slopes.shape(0) != children.shape(0))
        throw nb::value_error("families, slopes and shapes do not fit together");
    return {features.data(), starts.data(), values.data(), children.data(), parents.data(), slopes.data(),
            shapes.data(), features.shape(0), children.shape(0), slopes.shape(1), parents.shape(1)};
}

using Floats3 = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <typename Code>
void add_regression_terms(Vector<const int64_t> features, Vector<const int64_t> starts, Vector<const float> values,
                          Vector<const int64_t> children, Matrix<const int64_t> parents, Floats3 slopes,
                          Floats3 shapes, Matrix<const double> weights, Columns<const Code> codes,
                          Matrix<double> out) {
    const Regressions all = read(features, starts, values, children, parents, slopes, shapes);
    if (out.shape(0) != codes.shape(0) || out.shape(1) != all.n_classes || weights.shape(0) != all.n_families)
        throw nb::value_error("codes, weights and log joint do not fit together");
    nb::gil_scoped_release release;
    add_terms(all, codes.data(), codes.shape(0), weights.data(), out.data());
}

template <typename Code>
void leave_one_out_regressions(Vector<const int64_t> features, Vector<const int64_t> starts,
                               Vector<const float> values, Vector<const int64_t> children,
                               Matrix<const int64_t> parents, Floats3 slopes, Floats3 shapes, Inverses inverses,
                               Matrix<const double> squares, Vector<const double> freedom, double floor,
                               double most_freedom,
                               Columns<const Code> codes, Vector<const Code> classes, Vector<const double> removed,
                               Terms terms, size_t first_family) {
    const Regressions all = read(features, starts, values, children, parents, slopes, shapes);
    const WithoutOne one{inverses.data(), squares.data(), freedom.data(), floor, most_freedom};
    if (terms.shape(1) < first_family + all.n_families || terms.shape(2) != all.n_classes)
        throw nb::value_error("there is no room for the terms");
    nb::gil_scoped_release release;
    leave_out(all, one, codes.data(), classes.data(), removed.data(), codes.shape(0), terms.data(), first_family,
              terms.shape(1));
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("add_regression_terms", &add_regression_terms<Code>, nb::arg("features"), nb::arg("starts"),
               nb::arg("values"), nb::arg("children"), nb::arg("parents"), nb::arg("slopes"), nb::arg("shapes"),
               nb::arg("weights"), nb::arg("codes").noconvert(), nb::arg("out").noconvert());
    module.def("leave_one_out_regressions", &leave_one_out_regressions<Code>, nb::arg("features"), nb::arg("starts"),
               nb::arg("values"), nb::arg("children"), nb::arg("parents"), nb::arg("slopes"), nb::arg("shapes"),
               nb::arg("inverses"), nb::arg("squares"), nb::arg("freedom"), nb::arg("floor"), nb::arg("most_freedom"),
               nb::arg("codes").noconvert(), nb::arg("classes").noconvert(), nb::arg("removed"),
               nb::arg("terms").noconvert(), nb::arg("first_family"));
}

}  // namespace

void bind_regressions(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
}
