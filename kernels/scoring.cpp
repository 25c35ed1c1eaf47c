// Adding looked-up log-probabilities to the log joint of coded rows.
#include "kernels.hpp"

namespace {

constexpr size_t BLOCK = 512;

// Adds table[cell, :] to out[row, :]; the number of classes is a constant where it is small.
template <size_t N_CLASSES, typename Value>
void add_cells(const Value* table, const uint32_t* cells, double* out, size_t n_rows, size_t n_classes) {
    const size_t width = N_CLASSES ? N_CLASSES : n_classes;
    for (size_t r = 0; r < n_rows; ++r) {
        const Value* term = table + cells[r] * width;
        for (size_t c = 0; c < width; ++c) out[r * width + c] += static_cast<double>(term[c]);
    }
}

// Adds the term of one family to every row: `table` (cells, classes) is indexed by the mixed-radix number of the
// row's codes of `variables`.
template <typename Code, typename Value>
void add_term(Matrix<const Value> table, Columns<const Code> codes, Vector<const int64_t> variables,
              Vector<const int64_t> shape, Matrix<double> out) {
    const size_t n_rows = codes.shape(0), n_classes = table.shape(1);
    size_t volume = 1;
    for (size_t v = 0; v < shape.shape(0); ++v) volume *= static_cast<size_t>(shape(v));
    if (out.shape(0) != n_rows || out.shape(1) != n_classes || table.shape(0) != volume) {
        throw nb::value_error("table, codes and log joint do not fit together");
    }
    nb::gil_scoped_release release;
    uint32_t cells[BLOCK];
    for (size_t first = 0; first < n_rows; first += BLOCK) {
        const size_t n = std::min(BLOCK, n_rows - first);
        std::fill_n(cells, n, 0u);
        for (size_t v = 0; v < variables.shape(0); ++v) {
            const Code* column = codes.data() + static_cast<size_t>(variables(v)) * n_rows + first;
            const uint32_t radix = static_cast<uint32_t>(shape(v));
            for (size_t r = 0; r < n; ++r) cells[r] = cells[r] * radix + column[r];
        }
        double* target = out.data() + first * n_classes;
        switch (n_classes) {
            case 1: add_cells<1>(table.data(), cells, target, n, 1); break;
            case 2: add_cells<2>(table.data(), cells, target, n, 2); break;
            case 3: add_cells<3>(table.data(), cells, target, n, 3); break;
            default: add_cells<0>(table.data(), cells, target, n, n_classes);
        }
    }
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("add_term", &add_term<Code, double>, nb::arg("table").noconvert(), nb::arg("codes").noconvert(),
               nb::arg("variables"), nb::arg("shape"), nb::arg("out").noconvert());
    module.def("add_term", &add_term<Code, float>, nb::arg("table").noconvert(), nb::arg("codes").noconvert(),
               nb::arg("variables"), nb::arg("shape"), nb::arg("out").noconvert());
}

}  // namespace

void bind_scoring(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
}
