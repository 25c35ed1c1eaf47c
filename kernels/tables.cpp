// Looking cells of contingency tables up, for coded rows.
#include "kernels.hpp"

namespace {

// Number of the row of `sorted` (cells, width) that equals the given columns of each row, -1 where there is none.
template <typename Code, typename Query>
nb::ndarray<nb::numpy, int64_t> find_cells(Matrix<const Code> sorted, Columns<const Query> codes,
                                           Vector<const int64_t> variables) {
    const size_t n_rows = codes.shape(0), width = sorted.shape(1);
    const int64_t n_cells = static_cast<int64_t>(sorted.shape(0));
    const Code* cells = sorted.data();
    const Query* columns = codes.data();
    std::vector<int64_t> found(n_rows);
    {
        nb::gil_scoped_release release;
        std::vector<Query> wanted(width);
        for (size_t r = 0; r < n_rows; ++r) {
            check_interrupt_at(r);
            for (size_t v = 0; v < width; ++v) wanted[v] = columns[static_cast<size_t>(variables(v)) * n_rows + r];
            const auto compare = [&](int64_t cell) {  // below, equal or above the wanted cell
                const Code* at = cells + static_cast<size_t>(cell) * width;
                for (size_t v = 0; v < width; ++v) {
                    if (at[v] != wanted[v]) return at[v] < wanted[v] ? -1 : 1;
                }
                return 0;
            };
            int64_t low = 0, high = n_cells;
            while (low < high) {
                const int64_t middle = low + (high - low) / 2;
                if (compare(middle) < 0) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            found[r] = low < n_cells && compare(low) == 0 ? low : -1;
        }
    }
    return as_numpy(std::move(found), {n_rows});
}

// Mixed-radix number of the given columns of each row, -1 where one of them is marginalized.
template <typename Code>
nb::ndarray<nb::numpy, int64_t> number_cells(Columns<const Code> codes, Vector<const int64_t> variables,
                                             Vector<const int64_t> shape) {
    const size_t n_rows = codes.shape(0);
    std::vector<int64_t> cells(n_rows, 0);
    {
        nb::gil_scoped_release release;
        for (size_t v = 0; v < variables.shape(0); ++v) {
            const Code* column = codes.data() + static_cast<size_t>(variables(v)) * n_rows;
            for (size_t r = 0; r < n_rows; ++r) {
                const bool known = cells[r] >= 0 && column[r] != shape(v);
                cells[r] = known ? cells[r] * shape(v) + column[r] : -1;
            }
        }
    }
    return as_numpy(std::move(cells), {n_rows});
}

// Weight of each class in the given cell of a sparse table: zeros where the cell (-1) does not occur.
template <typename Code>
nb::ndarray<nb::numpy, double> gather_cells(Vector<const int64_t> cells, Vector<const int64_t> starts,
                                            Vector<const Code> classes, Vector<const double> weights,
                                            size_t n_classes) {
    const size_t n_rows = cells.shape(0);
    std::vector<double> gathered(n_rows * n_classes, 0.0);
    {
        nb::gil_scoped_release release;
        for (size_t r = 0; r < n_rows; ++r) {
            check_interrupt_at(r);
            if (cells(r) < 0) continue;
            for (int64_t entry = starts(cells(r)); entry < starts(cells(r) + 1); ++entry) {
                gathered[r * n_classes + classes(entry)] = weights(entry);
            }
        }
    }
    return as_numpy(std::move(gathered), {n_rows, n_classes});
}

template <typename Code, typename Query>
void bind_query(nb::module_& module) {
    module.def("find_cells", &find_cells<Code, Query>, nb::arg("sorted_cells").noconvert(),
               nb::arg("codes").noconvert(), nb::arg("variables"));
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("number_cells", &number_cells<Code>, nb::arg("codes").noconvert(), nb::arg("variables"),
               nb::arg("shape"));
    bind_query<Code, uint8_t>(module);
    bind_query<Code, uint16_t>(module);
    bind_query<Code, uint32_t>(module);
    module.def("gather_cells", &gather_cells<Code>, nb::arg("cells"), nb::arg("starts"),
               nb::arg("classes").noconvert(), nb::arg("weights").noconvert(), nb::arg("n_classes"));
}

}  // namespace

void bind_tables(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
}
