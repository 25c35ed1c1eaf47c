// Cut points by the entropy of the classes and its description length (Fayyad and Irani, 1993).
#include "kernels.hpp"

#include <cmath>
#include <limits>

namespace {

double weight_log_weight(double weight) { return weight > 0 ? weight * std::log2(weight) : 0.0; }

// Class weights on one side of a cut. `entropy()` is N times the entropy in bits.
struct Side {
    std::vector<double> weights, terms;
    double total = 0, sum = 0;

    explicit Side(size_t n_classes) : weights(n_classes), terms(n_classes) {}
    // Setting rather than subtracting keeps a class that has left at exactly zero.
    void set(size_t group, double weight) {
        total += weight - weights[group];
        const double term = weight_log_weight(weight);
        sum += term - terms[group];
        weights[group] = weight;
        terms[group] = term;
    }
    double entropy() const { return weight_log_weight(total) - sum; }
    double n_present() const {
        return double(std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0; }));
    }
};

// Fayyad and Irani (1993): is the information gain worth the description of the cut?
bool accepts(const Side& whole, const Side& left, const Side& right) {
    const double total = whole.total, k = whole.n_present();
    const double gain = (whole.entropy() - left.entropy() - right.entropy()) / total;
    const double classes = k * std::log2(3.0) + std::log2(1 - 2 * std::pow(3.0, -k));
    const double delta = classes - k * whole.entropy() / total + left.n_present() * left.entropy() / left.total +
                         right.n_present() * right.entropy() / right.total;
    return gain > (std::log2(std::max(total - 1, 1.0)) + delta) / total;
}

struct Search {
    const int64_t* starts;
    const uint32_t* classes;
    const double* weights;
    size_t n_classes;

    Side sum(size_t first, size_t last) const {
        std::vector<double> totals(n_classes);
        for (int64_t cell = starts[first]; cell < starts[last]; ++cell) totals[classes[cell]] += weights[cell];
        Side side(n_classes);
        for (size_t group = 0; group < n_classes; ++group) side.set(group, totals[group]);
        return side;
    }

    // The value after which to cut first .. last, or `last` where every cut leaves one side without weight.
    size_t best_cut(size_t first, size_t last, const Side& whole) const {
        Side left(n_classes), right = whole;
        double lowest = std::numeric_limits<double>::infinity();
        // Cuts within rounding of each other are equal, and the first of them is taken.
        const double tolerance = 1e-9 * whole.total;
        size_t best = last;
        for (size_t value = first; value + 1 < last; ++value) {
            check_interrupt_at(value);
            for (int64_t cell = starts[value]; cell < starts[value + 1]; ++cell) {
                const uint32_t group = classes[cell];
                left.set(group, left.weights[group] + weights[cell]);
                right.set(group, whole.weights[group] - left.weights[group]);
            }
            const double entropy = left.entropy() + right.entropy();
            if (entropy < lowest - tolerance) {
                lowest = entropy;
                best = value + 1;
            }
        }
        return best;
    }
};

// Ascending numbers of values before which the entropy search cuts.
nb::ndarray<nb::numpy, int64_t> entropy_cuts(Vector<const int64_t> starts, Vector<const uint32_t> classes, Vector<const double> weights,
                                             size_t n_classes) {
    std::vector<int64_t> cuts;
    {
        nb::gil_scoped_release released;
        const Search search{starts.data(), classes.data(), weights.data(), n_classes};
        std::vector<std::pair<size_t, size_t>> open{{0, starts.shape(0) - 1}};
        while (!open.empty()) {
            const auto [first, last] = open.back();
            open.pop_back();
            if (last - first < 2) continue;
            const Side whole = search.sum(first, last);
            if (whole.n_present() < 2) continue;
            const size_t cut = search.best_cut(first, last, whole);
            if (!accepts(whole, search.sum(first, cut), search.sum(cut, last))) continue;
            cuts.push_back(int64_t(cut));
            open.push_back({first, cut});
            open.push_back({cut, last});
        }
        std::sort(cuts.begin(), cuts.end());
    }
    const size_t n_cuts = cuts.size();
    return as_numpy(std::move(cuts), {n_cuts});
}

}  // namespace

void bind_discretization(nb::module_& module) {
    module.def("entropy_cuts", &entropy_cuts, nb::arg("starts"), nb::arg("classes"), nb::arg("weights"),
               nb::arg("n_classes"));
}
