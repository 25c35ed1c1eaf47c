// AnDE: one packed block of counts for every set of features of one size, shared by all the roles its members play.
//
// The features of a set are ascending, sets are in lexicographic order. A set is stored dense (its mixed-radix table,
// class last) or sparse (sorted cell numbers and their weights), whichever is smaller.
#include <nanobind/stl/optional.h>

#include <cmath>
#include <limits>
#include <optional>

#include "parent_sets.hpp"

namespace {

template <typename Weight>
struct Block {
    std::vector<int64_t> dense_starts{0}, sparse_starts{0};
    std::vector<Weight> dense, sparse;
    std::vector<uint32_t> keys;  // of the sparse sets
};

template <typename Weight>
struct Entries {
    std::vector<std::pair<Key, Weight>> cells;
};

Key volume_of(const int32_t* members, int64_t size, const int64_t* cardinalities, int64_t n_classes) {
    long double volume = static_cast<long double>(n_classes);
    Key exact = static_cast<Key>(n_classes);
    for (int64_t i = 0; i < size; ++i) {
        volume *= cardinalities[members[i]];
        exact *= static_cast<Key>(cardinalities[members[i]]);
    }
    if (volume > static_cast<long double>(std::numeric_limits<uint32_t>::max())) {
        throw nb::value_error("a set of parents has more than 2**32 cells");
    }
    return exact;
}

template <typename Weight>
bool is_dense(Key volume, size_t n_rows) {
    return volume * sizeof(Weight) <= 4 * std::min<Key>(volume, n_rows) * (sizeof(uint32_t) + sizeof(Weight));
}

template <typename Weight>
nb::tuple as_tuple(Block<Weight>&& block) {
    const size_t sets = block.dense_starts.size(), dense = block.dense.size(), sparse = block.keys.size();
    return nb::make_tuple(as_numpy(std::move(block.dense_starts), {sets}), as_numpy(std::move(block.dense), {dense}),
                          as_numpy(std::move(block.sparse_starts), {sets}), as_numpy(std::move(block.keys), {sparse}),
                          as_numpy(std::move(block.sparse), {sparse}));
}

// Fills a block: dense sets are written in place by `fill`, sparse ones collected by `collect` as sorted entries, a
// chunk of sets at a time so that few entries are held twice.
template <typename Weight, typename Fill, typename Collect>
Block<Weight> build(const std::vector<int32_t>& sets, int64_t size, const int64_t* cardinalities, int64_t n_classes,
                    size_t n_entries, int n_threads, Fill&& fill, Collect&& collect) {
    const size_t n_sets = sets.size() / static_cast<size_t>(size);
    Block<Weight> block;
    std::vector<uint8_t> dense(n_sets);
    for (size_t t = 0; t < n_sets; ++t) {
        const Key volume = volume_of(&sets[t * size], size, cardinalities, n_classes);
        dense[t] = is_dense<Weight>(volume, n_entries);
        block.dense_starts.push_back(block.dense_starts.back() + (dense[t] ? static_cast<int64_t>(volume) : 0));
    }
    block.dense.assign(static_cast<size_t>(block.dense_starts.back()), Weight{0});
    parallel_for(n_sets, n_threads, [&](size_t t) {
        if (dense[t]) fill(&sets[t * size], block.dense.data() + block.dense_starts[t]);
    });
    constexpr size_t CHUNK = 4096;
    for (size_t first = 0; first < n_sets; first += CHUNK) {
        const size_t n = std::min(CHUNK, n_sets - first);
        std::vector<Entries<Weight>> found(n);
        parallel_for(n, n_threads, [&](size_t i) {
            if (!dense[first + i]) found[i] = collect(&sets[(first + i) * size]);
        });
        for (const auto& entries : found) {
            for (const auto& [key, weight] : entries.cells) {
                block.keys.push_back(static_cast<uint32_t>(key));
                block.sparse.push_back(weight);
            }
            block.sparse_starts.push_back(static_cast<int64_t>(block.keys.size()));
        }
    }
    return block;
}

template <typename Code>
MULTIVERSION void number_rows(const Code* const* columns, const int64_t* shape, int64_t size, const Code* classes,
                              int64_t n_classes, size_t first, size_t n, uint32_t* cells) {
    std::fill_n(cells, n, 0u);
    for (int64_t v = 0; v < size; ++v) {
        const Code* column = columns[v] + first;
        const uint32_t radix = static_cast<uint32_t>(shape[v]);
        for (size_t r = 0; r < n; ++r) cells[r] = cells[r] * radix + column[r];
    }
    for (size_t r = 0; r < n; ++r) cells[r] = cells[r] * static_cast<uint32_t>(n_classes) + classes[first + r];
}

// Counts every set of `size` features. `Weight` is the smallest type that holds the total weight.
template <typename Code, typename Weight>
nb::tuple count_sets(Columns<const Code> codes, Vector<const Code> classes, std::optional<Vector<const double>> weights,
                     Vector<const int64_t> cardinalities, int64_t n_classes, int64_t size, int n_threads) {
    const size_t n_rows = codes.shape(0);
    const int64_t n_features = static_cast<int64_t>(codes.shape(1));
    const double* row_weights = weights ? weights->data() : nullptr;
    Block<Weight> block;
    {
        nb::gil_scoped_release release;
        std::vector<uint8_t> holes(n_features);
        for (int64_t j = 0; j < n_features; ++j) {
            const Code* column = codes.data() + j * n_rows;
            holes[j] = std::find(column, column + n_rows, static_cast<Code>(cardinalities(j))) != column + n_rows;
        }
        const auto for_cells = [&](const int32_t* members, auto&& visit) {
            constexpr size_t STEP = 1024;
            std::vector<const Code*> columns;
            std::vector<int64_t> shape;
            bool any_holes = false;
            for (int64_t i = 0; i < size; ++i) {
                columns.push_back(codes.data() + static_cast<size_t>(members[i]) * n_rows);
                shape.push_back(cardinalities(members[i]));
                any_holes |= holes[members[i]] != 0;
            }
            uint32_t cells[STEP];
            for (size_t first = 0; first < n_rows; first += STEP) {
                check_interrupt_at(first);
                const size_t n = std::min(STEP, n_rows - first);
                number_rows(columns.data(), shape.data(), size, classes.data(), n_classes, first, n, cells);
                for (size_t r = 0; r < n; ++r) {
                    bool counted = true;
                    for (int64_t i = 0; any_holes && i < size; ++i) counted &= columns[i][first + r] != shape[i];
                    if (counted) visit(cells[r], row_weights ? row_weights[first + r] : 1.0);
                }
            }
        };
        block = build<Weight>(
            subsets(n_features, size), size, cardinalities.data(), n_classes, n_rows, n_threads,
            [&](const int32_t* members, Weight* table) {
                for_cells(members, [&](Key key, double weight) { table[key] += static_cast<Weight>(weight); });
            },
            [&](const int32_t* members) {
                std::vector<std::pair<Key, double>> visited;
                for_cells(members, [&](Key key, double weight) { visited.emplace_back(key, weight); });
                std::stable_sort(visited.begin(), visited.end(),
                                 [](const auto& a, const auto& b) { return a.first < b.first; });
                Entries<Weight> entries;
                for (const auto& [key, weight] : visited) {
                    if (entries.cells.empty() || entries.cells.back().first != key) entries.cells.emplace_back(key, 0);
                    entries.cells.back().second += static_cast<Weight>(weight);
                }
                return entries;
            });
    }
    return as_tuple(std::move(block));
}

// The sum of two blocks; code books may have grown since either was counted, so cells are renumbered.
template <typename Weight>
nb::tuple merge_sets(Vector<const int64_t> dense_starts_a, Vector<const Weight> dense_a,
                     Vector<const int64_t> sparse_starts_a, Vector<const uint32_t> keys_a,
                     Vector<const Weight> sparse_a, Vector<const int64_t> cardinalities_a,
                     Vector<const int64_t> dense_starts_b, Vector<const Weight> dense_b,
                     Vector<const int64_t> sparse_starts_b, Vector<const uint32_t> keys_b,
                     Vector<const Weight> sparse_b, Vector<const int64_t> cardinalities_b,
                     Vector<const int64_t> cardinalities, int64_t n_classes, int64_t size, size_t n_rows,
                     int n_threads) {
    const auto a = view(dense_starts_a, dense_a, sparse_starts_a, keys_a, sparse_a);
    const auto b = view(dense_starts_b, dense_b, sparse_starts_b, keys_b, sparse_b);
    const int64_t n_features = static_cast<int64_t>(cardinalities.shape(0));
    Block<Weight> block;
    {
        nb::gil_scoped_release release;
        const Ranks rank(n_features, size);
        const auto renumber = [&](const int32_t* members, const int64_t* from, Key key) {
            Key cell = key / n_classes, renumbered = 0, radix = 1;
            for (int64_t i = size - 1; i >= 0; --i) {
                renumbered += radix * (cell % static_cast<Key>(from[members[i]]));
                cell /= static_cast<Key>(from[members[i]]);
                radix *= static_cast<Key>(cardinalities(members[i]));
            }
            return renumbered * n_classes + key % n_classes;
        };
        const auto for_both = [&](const int32_t* members, auto&& visit) {
            const int64_t set = rank(members);
            a.for_cells(set, [&](Key key, Weight w) { visit(renumber(members, cardinalities_a.data(), key), w); });
            b.for_cells(set, [&](Key key, Weight w) { visit(renumber(members, cardinalities_b.data(), key), w); });
        };
        block = build<Weight>(
            subsets(n_features, size), size, cardinalities.data(), n_classes, n_rows, n_threads,
            [&](const int32_t* members, Weight* table) {
                for_both(members, [&](Key key, Weight weight) { table[key] += weight; });
            },
            [&](const int32_t* members) {
                Entries<Weight> all, merged;
                for_both(members, [&](Key key, Weight weight) { all.cells.emplace_back(key, weight); });
                std::stable_sort(all.cells.begin(), all.cells.end(),
                                 [](const auto& x, const auto& y) { return x.first < y.first; });
                for (const auto& [key, weight] : all.cells) {
                    if (merged.cells.empty() || merged.cells.back().first != key) merged.cells.emplace_back(key, 0);
                    merged.cells.back().second += weight;
                }
                return merged;
            });
    }
    return as_tuple(std::move(block));
}

template <typename Code>
nb::tuple count_sets_as(Columns<const Code> codes, Vector<const Code> classes,
                        std::optional<Vector<const double>> weights, Vector<const int64_t> cardinalities,
                        int64_t n_classes, int64_t size, int weight_bytes, int n_threads) {
    const auto count = [&]<typename Weight>(Weight) {
        return count_sets<Code, Weight>(codes, classes, weights, cardinalities, n_classes, size, n_threads);
    };
    switch (weight_bytes) {
        case 1: return count(uint8_t{});
        case 2: return count(uint16_t{});
        case 4: return count(uint32_t{});
        default: return count(double{});
    }
}

template <typename Weight>
void bind_merge(nb::module_& module) {
    module.def("merge_sets", &merge_sets<Weight>, nb::arg("dense_starts_a"), nb::arg("dense_a").noconvert(),
               nb::arg("sparse_starts_a"), nb::arg("keys_a"), nb::arg("sparse_a").noconvert(),
               nb::arg("cardinalities_a"), nb::arg("dense_starts_b"), nb::arg("dense_b").noconvert(),
               nb::arg("sparse_starts_b"), nb::arg("keys_b"), nb::arg("sparse_b").noconvert(),
               nb::arg("cardinalities_b"), nb::arg("cardinalities"), nb::arg("n_classes"), nb::arg("size"),
               nb::arg("n_rows"), nb::arg("n_threads"));
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("count_sets", &count_sets_as<Code>, nb::arg("codes").noconvert(), nb::arg("classes").noconvert(), nb::arg("weights").noconvert().none(),
               nb::arg("cardinalities"), nb::arg("n_classes"), nb::arg("size"), nb::arg("weight_bytes"),
               nb::arg("n_threads"));
}

}  // namespace

void bind_parent_sets(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
    bind_merge<uint8_t>(module);
    bind_merge<uint16_t>(module);
    bind_merge<uint32_t>(module);
    bind_merge<double>(module);
}
