// How far posteriors are from the classes of rows, for many models at once.
#include "kernels.hpp"
#include "lanes.hpp"

#include <cmath>

namespace {

// The sum over rows of weight * (1 - P(own class))^2; P is uniform where every class is impossible.
MULTIVERSION double squared_error(const double* log_joint, const uint32_t* classes, const double* weights,
                                  size_t n_rows, size_t n_classes, double* RESTRICT logs) {
    double error = 0;
    for (size_t first = 0; first < n_rows; first += LANES) {
        const size_t count = std::min(LANES, n_rows - first);
        double largest[LANES], total[LANES] = {};
        for (size_t l = 0; l < LANES; ++l) largest[l] = -HUGE_VAL;
        for (size_t c = 0; c < n_classes; ++c)
            for (size_t l = 0; l < count; ++l) logs[c * LANES + l] = log_joint[(first + l) * n_classes + c];
        for (size_t c = 0; c < n_classes; ++c)
            for (size_t l = 0; l < LANES; ++l)
                largest[l] = logs[c * LANES + l] > largest[l] ? logs[c * LANES + l] : largest[l];
        for (size_t l = 0; l < LANES; ++l) largest[l] = largest[l] == -HUGE_VAL ? 0.0 : largest[l];
        for (size_t c = 0; c < n_classes; ++c)
            for (size_t l = 0; l < LANES; ++l) {
                logs[c * LANES + l] = exponential(logs[c * LANES + l] - largest[l]);
                total[l] += logs[c * LANES + l];
            }
        for (size_t l = 0; l < count; ++l) {
            const double away = 1.0 - logs[classes[first + l] * LANES + l] / total[l];
            error += weights[first + l] * away * away;
        }
    }
    return error;
}

// The weighted squared error of each model, (models,), whose log joints are (models, rows, classes).
nb::ndarray<nb::numpy, double> squared_errors(nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> logs,
                                              Vector<const uint32_t> classes, Vector<const double> weights) {
    const size_t n_models = logs.shape(0), n_rows = logs.shape(1), n_classes = logs.shape(2);
    if (classes.shape(0) != n_rows || weights.shape(0) != n_rows)
        throw nb::value_error("log joints, classes and weights do not fit together");
    if (!std::all_of(classes.data(), classes.data() + n_rows, [&](uint32_t label) { return label < n_classes; }))
        throw nb::value_error("a class is not known");
    std::vector<double> errors(n_models);
    {
        nb::gil_scoped_release release;
        std::vector<double> room(n_classes * LANES);
        for (size_t model = 0; model < n_models; ++model)
            errors[model] = squared_error(logs.data() + model * n_rows * n_classes, classes.data(), weights.data(),
                                          n_rows, n_classes, room.data());
    }
    return as_numpy(std::move(errors), {n_models});
}

}  // namespace

void bind_losses(nb::module_& module) {
    module.def("squared_errors", &squared_errors, nb::arg("log_joints").noconvert(), nb::arg("classes"),
               nb::arg("weights"));
}
