// Conditional mutual information from contingency tables, dense or sparse.
#include "kernels.hpp"

#include <cmath>

namespace {

double n_log_n(double n) { return n > 0 ? n * std::log(n) : 0.0; }

double sum_n_log_n(const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) sum += n_log_n(value);
    return sum;
}

// Conditional mutual information of the two variables of a dense (a, b, class) table, in nats.
double one_conditional_information(const double* table, size_t a, size_t b, size_t n_classes) {
    std::vector<double> first(a * n_classes), second(b * n_classes), classes(n_classes);
    double joint = 0, total = 0;
    for (size_t i = 0; i < a; ++i) {
        for (size_t j = 0; j < b; ++j) {
            for (size_t c = 0; c < n_classes; ++c) {
                const double weight = *table++;
                if (weight == 0) continue;
                joint += n_log_n(weight);
                first[i * n_classes + c] += weight;
                second[j * n_classes + c] += weight;
                classes[c] += weight;
                total += weight;
            }
        }
    }
    if (total <= 0) return 0;
    return (joint + sum_n_log_n(classes) - sum_n_log_n(first) - sum_n_log_n(second)) / total;
}

double dense_information(nb::ndarray<const double, nb::ndim<3>, nb::c_contig> table) {
    nb::gil_scoped_release release;
    return one_conditional_information(table.data(), table.shape(0), table.shape(1), table.shape(2));
}

// The same from the cells of a sparse table.
template <typename Code>
double sparse_information(Matrix<const Code> codes, Vector<const int64_t> starts, Vector<const Code> classes,
                          Vector<const double> weights, size_t a, size_t b, size_t n_classes) {
    nb::gil_scoped_release release;
    std::vector<double> first(a * n_classes), second(b * n_classes), by_class(n_classes);
    double joint = 0, total = 0;
    for (size_t cell = 0; cell < codes.shape(0); ++cell) {
        for (int64_t entry = starts(cell); entry < starts(cell + 1); ++entry) {
            const double weight = weights(entry);
            const size_t c = classes(entry);
            joint += n_log_n(weight);
            first[codes(cell, 0) * n_classes + c] += weight;
            second[codes(cell, 1) * n_classes + c] += weight;
            by_class[c] += weight;
            total += weight;
        }
    }
    if (total <= 0) return 0;
    return (joint + sum_n_log_n(by_class) - sum_n_log_n(first) - sum_n_log_n(second)) / total;
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("sparse_information", &sparse_information<Code>, nb::arg("codes").noconvert(), nb::arg("starts"),
               nb::arg("classes").noconvert(), nb::arg("weights").noconvert(), nb::arg("a"), nb::arg("b"),
               nb::arg("n_classes"));
}

}  // namespace

void bind_information(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
    module.def("dense_information", &dense_information, nb::arg("table").noconvert());
}
