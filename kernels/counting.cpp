// Counting coded rows into contingency tables, dense or sparse.
//
// A row takes part in a table only if none of the table's variables is marginalized in it: code == cardinality.
#include <nanobind/stl/optional.h>

#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "kernels.hpp"

namespace {

constexpr size_t BLOCK = 1024;
constexpr size_t ROWS_TOGETHER = 16 * BLOCK, GROUP_ENTRIES = 1 << 15, GROUP_TABLES = 32;

// The rows to count: codes by column, classes, and weights where rows weigh anything but one.
template <typename Code>
struct Rows {
    const Code* codes;
    const Code* classes;
    const double* weights;
    size_t n_rows;

    const Code* column(int64_t feature) const { return codes + static_cast<size_t>(feature) * n_rows; }
};

// The variables of one table and their cardinalities, without the class.
struct Request {
    std::vector<int64_t> variables;
    std::vector<int64_t> shape;

    int64_t cells() const {
        return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    }
};

std::vector<Request> read_requests(Vector<const int64_t> variables, Vector<const int64_t> starts,
                                   Vector<const int64_t> cardinalities) {
    std::vector<Request> requests(starts.shape(0) - 1);
    for (size_t i = 0; i < requests.size(); ++i) {
        for (int64_t at = starts(i); at < starts(i + 1); ++at) {
            requests[i].variables.push_back(variables(at));
            requests[i].shape.push_back(cardinalities(variables(at)));
        }
    }
    return requests;
}

// Cell numbers of a block of rows: mixed radix over the variables, the class last.
template <typename Code>
MULTIVERSION void number_block(const Code* column, int64_t radix, uint32_t* cells, size_t n) {
    for (size_t r = 0; r < n; ++r) cells[r] = cells[r] * static_cast<uint32_t>(radix) + column[r];
}

template <typename Code>
MULTIVERSION void mark_block(const Code* column, int64_t cardinality, uint8_t* counted, size_t n) {
    for (size_t r = 0; r < n; ++r) counted[r] &= static_cast<uint8_t>(column[r] != cardinality);
}

template <typename Code>
bool has_marginalized(const Code* column, int64_t cardinality, size_t n) {
    return std::find(column, column + n, static_cast<Code>(cardinality)) != column + n;
}

// One dense table while it is counted. Rows without weights are counted in four interleaved histograms, so that equal
// cells of neighbouring rows do not wait for each other.
struct Tally {
    const Request& request;
    bool weighted, holes = false;
    size_t volume, lanes;
    std::vector<uint32_t> counts;
    std::vector<double>& out;

    Tally(const Request& request_, size_t n_classes, bool weighted_, const std::vector<uint8_t>& marginalized,
          std::vector<double>& out_)
        : request(request_), weighted(weighted_), volume(static_cast<size_t>(request.cells()) * n_classes),
          lanes(!weighted && volume <= 4096 ? 4 : 1), counts(weighted ? 0 : lanes * volume), out(out_) {
        for (int64_t variable : request.variables) holes |= marginalized[variable] != 0;
        out.assign(volume, 0.0);
    }

    void finish() {
        for (size_t i = 0; i < counts.size(); ++i) out[i % volume] += counts[i];
    }
};

template <typename Code>
void count_rows(const Rows<Code>& rows, int64_t n_classes, size_t begin, size_t end, Tally& tally) {
    const Request& request = tally.request;
    const bool weighted = tally.weighted, holes = tally.holes;
    const size_t volume = tally.volume, lanes = tally.lanes;
    uint32_t* counts = tally.counts.data();
    double* out = tally.out.data();
    uint32_t cells[BLOCK];
    uint8_t counted[BLOCK];
    for (size_t first = begin; first < end; first += BLOCK) {
        const size_t n = std::min(BLOCK, end - first);
        std::fill_n(cells, n, 0u);
        for (size_t v = 0; v < request.variables.size(); ++v) {
            number_block(rows.column(request.variables[v]) + first, request.shape[v], cells, n);
        }
        number_block(rows.classes + first, n_classes, cells, n);
        if (holes) {
            std::fill_n(counted, n, uint8_t{1});
            for (size_t v = 0; v < request.variables.size(); ++v) {
                mark_block(rows.column(request.variables[v]) + first, request.shape[v], counted, n);
            }
            for (size_t r = 0; r < n; ++r) {
                if (!counted[r]) continue;
                if (weighted) {
                    out[cells[r]] += rows.weights[first + r];
                } else {
                    ++counts[cells[r]];
                }
            }
        } else if (weighted) {
            for (size_t r = 0; r < n; ++r) out[cells[r]] += rows.weights[first + r];
        } else if (lanes == 4) {
            size_t r = 0;
            for (; r + 4 <= n; r += 4) {
                ++counts[cells[r]];
                ++counts[volume + cells[r + 1]];
                ++counts[2 * volume + cells[r + 2]];
                ++counts[3 * volume + cells[r + 3]];
            }
            for (; r < n; ++r) ++counts[cells[r]];
        } else {
            for (size_t r = 0; r < n; ++r) ++counts[cells[r]];
        }
    }
}

// Tables that are counted together: so few that they, and some rows of all columns, stay in a processor's own memory.
std::vector<size_t> groups_of(const std::vector<Request>& requests, size_t n_classes, size_t n_threads) {
    const size_t most = n_threads == 1 ? GROUP_TABLES : std::clamp<size_t>(requests.size() / (4 * n_threads), 1, GROUP_TABLES);
    std::vector<size_t> starts{0};
    size_t entries = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
        entries += static_cast<size_t>(requests[i].cells()) * n_classes;
        if (entries > GROUP_ENTRIES || i + 1 - starts.back() > most) {
            if (i > starts.back()) starts.push_back(i);
            entries = static_cast<size_t>(requests[i].cells()) * n_classes;
        }
    }
    starts.push_back(requests.size());
    return starts;
}

template <typename Code>
void count_group(const Rows<Code>& rows, int64_t n_classes, std::vector<Tally>& tallies) {
    for (size_t first = 0; first < rows.n_rows; first += ROWS_TOGETHER) {
        check_interrupt();
        const size_t end = std::min(first + ROWS_TOGETHER, rows.n_rows);
        for (Tally& tally : tallies) count_rows(rows, n_classes, first, end, tally);
    }
    for (Tally& tally : tallies) tally.finish();
}

template <typename Code>
std::vector<uint8_t> marginalized_columns(const Rows<Code>& rows, Vector<const int64_t> cardinalities, int n_threads) {
    std::vector<uint8_t> marginalized(cardinalities.shape(0));
    parallel_for(marginalized.size(), n_threads, [&](size_t j) {
        marginalized[j] = has_marginalized(rows.column(static_cast<int64_t>(j)), cardinalities(j), rows.n_rows);
    });
    return marginalized;
}

using Weights = std::optional<Vector<const double>>;

template <typename Code>
Rows<Code> read_rows(Columns<const Code> codes, Vector<const Code> classes, const Weights& weights) {
    if (classes.shape(0) != codes.shape(0) || (weights && weights->shape(0) != codes.shape(0))) {
        throw nb::value_error("codes, classes and weights must have the same number of rows");
    }
    return {codes.data(), classes.data(), weights ? weights->data() : nullptr, codes.shape(0)};
}

template <typename Code>
nb::list count_dense(Columns<const Code> codes, Vector<const Code> classes, Weights weights,
                     Vector<const int64_t> variables, Vector<const int64_t> starts,
                     Vector<const int64_t> cardinalities, int64_t n_classes, int n_threads) {
    const auto rows = read_rows(codes, classes, weights);
    const auto requests = read_requests(variables, starts, cardinalities);
    std::vector<std::vector<double>> tables(requests.size());
    {
        nb::gil_scoped_release release;
        const auto marginalized = marginalized_columns(rows, cardinalities, n_threads);
        const auto starts = groups_of(requests, static_cast<size_t>(n_classes), static_cast<size_t>(std::max(n_threads, 1)));
        parallel_for(starts.size() - 1, n_threads, [&](size_t group) {
            std::vector<Tally> tallies;
            for (size_t i = starts[group]; i < starts[group + 1]; ++i)
                tallies.emplace_back(requests[i], n_classes, rows.weights != nullptr, marginalized, tables[i]);
            count_group(rows, n_classes, tallies);
        });
    }
    nb::list result;
    for (size_t i = 0; i < tables.size(); ++i) {
        const size_t cells = static_cast<size_t>(requests[i].cells());
        result.append(as_numpy(std::move(tables[i]), {cells, static_cast<size_t>(n_classes)}));
    }
    return result;
}

// The distinct cells of one table in lexicographic order, and for each the classes it occurs with.
template <typename Code>
struct SparseCells {
    std::vector<Code> codes;      // (cells, variables)
    std::vector<int64_t> starts;  // (cells + 1,)
    std::vector<Code> classes;    // (entries,)
    std::vector<double> weights;  // (entries,)
};

// Row numbers sorted by key, equal keys in row order: a radix sort over the bytes that differ.
void sort_by_key(std::vector<uint64_t>& keys, std::vector<uint32_t>& order) {
    const size_t n = keys.size();
    uint64_t any = 0, all = ~uint64_t{0};
    for (uint64_t key : keys) any |= key, all &= key;
    std::vector<uint64_t> keys_out(n);
    std::vector<uint32_t> order_out(n);
    for (int shift = 0; shift < 64; shift += 8) {
        if ((((any ^ all) >> shift) & 255) == 0) continue;
        check_interrupt();
        std::array<size_t, 257> begin{};
        for (uint64_t key : keys) ++begin[((key >> shift) & 255) + 1];
        for (size_t b = 0; b < 256; ++b) begin[b + 1] += begin[b];
        for (size_t i = 0; i < n; ++i) {
            const size_t to = begin[(keys[i] >> shift) & 255]++;
            keys_out[to] = keys[i];
            order_out[to] = order[i];
        }
        keys.swap(keys_out);
        order.swap(order_out);
    }
}

// Sorts `order` lexicographically by the columns, then the class. Columns are folded into 64-bit keys from the right
// (least significant first), as many as fit at a time: a stable sort per group keeps the groups to its right in order.
template <typename Code>
void sort_rows(const std::vector<const Code*>& columns, const std::vector<int64_t>& radices,
               std::vector<uint32_t>& order) {
    std::vector<uint64_t> keys(order.size());
    for (size_t last = columns.size(); last > 0;) {
        size_t first = last;
        long double volume = 1;
        while (first > 0 && volume * radices[first - 1] < 9.2e18L) volume *= radices[--first];
        for (size_t i = 0; i < order.size(); ++i) {
            check_interrupt_at(i);
            uint64_t key = 0;
            for (size_t c = first; c < last; ++c) key = key * static_cast<uint64_t>(radices[c]) + columns[c][order[i]];
            keys[i] = key;
        }
        sort_by_key(keys, order);
        last = first;
    }
}

template <typename Code>
SparseCells<Code> count_one_sparse(const Rows<Code>& rows, const Request& request, int64_t n_classes,
                                   bool keep_marginalized) {
    const size_t width = request.variables.size();
    std::vector<const Code*> columns;
    std::vector<int64_t> radices;
    for (size_t v = 0; v < width; ++v) {
        columns.push_back(rows.column(request.variables[v]));
        radices.push_back(request.shape[v] + 1);
    }
    std::vector<uint32_t> order;
    order.reserve(rows.n_rows);
    for (size_t r = 0; r < rows.n_rows; ++r) {
        bool counted = true;
        for (size_t v = 0; v < width && !keep_marginalized; ++v) counted &= columns[v][r] != request.shape[v];
        if (counted) order.push_back(static_cast<uint32_t>(r));
    }
    columns.push_back(rows.classes);
    radices.push_back(n_classes);
    sort_rows(columns, radices, order);

    SparseCells<Code> cells;
    for (size_t i = 0; i < order.size(); ++i) {
        check_interrupt_at(i);
        const uint32_t r = order[i];
        bool new_cell = i == 0;
        for (size_t v = 0; v < width && !new_cell; ++v) new_cell = columns[v][r] != columns[v][order[i - 1]];
        if (new_cell) {
            cells.starts.push_back(static_cast<int64_t>(cells.classes.size()));
            for (size_t v = 0; v < width; ++v) cells.codes.push_back(columns[v][r]);
        }
        if (new_cell || rows.classes[r] != cells.classes.back()) {
            cells.classes.push_back(rows.classes[r]);
            cells.weights.push_back(0.0);
        }
        cells.weights.back() += rows.weights ? rows.weights[r] : 1.0;
    }
    cells.starts.push_back(static_cast<int64_t>(cells.classes.size()));
    cells.codes.shrink_to_fit();
    cells.starts.shrink_to_fit();
    cells.classes.shrink_to_fit();
    cells.weights.shrink_to_fit();
    return cells;
}

template <typename Code>
nb::list count_sparse(Columns<const Code> codes, Vector<const Code> classes, Weights weights,
                      Vector<const int64_t> variables, Vector<const int64_t> starts,
                      Vector<const int64_t> cardinalities, int64_t n_classes, bool keep_marginalized, int n_threads) {
    const auto rows = read_rows(codes, classes, weights);
    if (rows.n_rows >= std::numeric_limits<uint32_t>::max()) throw nb::value_error("too many rows for one table");
    const auto requests = read_requests(variables, starts, cardinalities);
    std::vector<SparseCells<Code>> tables(requests.size());
    {
        nb::gil_scoped_release release;
        parallel_for(requests.size(), n_threads, [&](size_t i) {
            tables[i] = count_one_sparse(rows, requests[i], n_classes, keep_marginalized);
        });
    }
    nb::list result;
    for (size_t i = 0; i < tables.size(); ++i) {
        auto& table = tables[i];
        const size_t cells = table.starts.size() - 1, entries = table.classes.size();
        result.append(nb::make_tuple(as_numpy(std::move(table.codes), {cells, requests[i].variables.size()}),
                                     as_numpy(std::move(table.starts), {cells + 1}),
                                     as_numpy(std::move(table.classes), {entries}),
                                     as_numpy(std::move(table.weights), {entries})));
    }
    return result;
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("count_dense", &count_dense<Code>, nb::arg("codes").noconvert(), nb::arg("classes").noconvert(),
               nb::arg("weights").noconvert().none(), nb::arg("variables"), nb::arg("starts"),
               nb::arg("cardinalities"), nb::arg("n_classes"), nb::arg("n_threads"));
    module.def("count_sparse", &count_sparse<Code>, nb::arg("codes").noconvert(), nb::arg("classes").noconvert(),
               nb::arg("weights").noconvert().none(), nb::arg("variables"), nb::arg("starts"),
               nb::arg("cardinalities"), nb::arg("n_classes"), nb::arg("keep_marginalized"), nb::arg("n_threads"));
}

}  // namespace

void bind_counting(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
}
