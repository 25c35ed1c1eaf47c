// AnDE: one packed block of counts for every set of features of one size, shared by all the roles its members play.
//
// The features of a set are ascending, sets are in lexicographic order. A set is stored dense (its mixed-radix table,
// class last) or sparse (sorted cell numbers and their weights), whichever is smaller.
#include <nanobind/stl/optional.h>

#include <cmath>
#include <limits>
#include <optional>

#include "kernels.hpp"

namespace {

using Key = uint64_t;

// Every ascending set of `size` features out of `n_features`, one after another.
std::vector<int32_t> subsets(int64_t n_features, int64_t size) {
    std::vector<int32_t> all, members(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) members[i] = static_cast<int32_t>(i);
    if (size > n_features) return all;
    while (true) {
        all.insert(all.end(), members.begin(), members.end());
        int64_t at = size - 1;
        while (at >= 0 && members[at] == n_features - size + at) --at;
        if (at < 0) return all;
        ++members[at];
        for (int64_t i = at + 1; i < size; ++i) members[i] = members[i - 1] + 1;
    }
}

// Lexicographic rank of an ascending set.
struct Ranks {
    int64_t n_features, size;
    std::vector<std::vector<int64_t>> choose;

    Ranks(int64_t n, int64_t s) : n_features(n), size(s), choose(n + 1, std::vector<int64_t>(s + 2, 0)) {
        for (int64_t i = 0; i <= n; ++i) {
            choose[i][0] = 1;
            for (int64_t j = 1; j <= s + 1 && j <= i; ++j) {
                choose[i][j] = choose[i - 1][j - 1] + (j <= i - 1 ? choose[i - 1][j] : 0);
            }
        }
    }

    template <typename Members>
    int64_t operator()(const Members& members) const {  // count the sets after it, from the last rank down
        int64_t after = 0;
        for (int64_t i = 0; i < size; ++i) after += choose[n_features - 1 - members[i]][size - i];
        return choose[n_features][size] - 1 - after;
    }
};

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

constexpr Key SKIPPED = ~Key{0};

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

template <typename Weight>
struct BlockView {
    const int64_t *dense_starts, *sparse_starts;
    const Weight *dense, *sparse;
    const uint32_t* keys;

    // Calls visit(class, weight) for every class of a cell with weight, `cell` numbered without the class.
    template <typename Visit>
    void for_classes(int64_t set, Key cell, int64_t n_classes, Visit&& visit) const {
        if (dense_starts[set + 1] > dense_starts[set]) {
            const Weight* at = dense + dense_starts[set] + cell * n_classes;
            for (int64_t c = 0; c < n_classes; ++c) visit(c, at[c]);
            return;
        }
        const uint32_t *first = keys + sparse_starts[set], *last = keys + sparse_starts[set + 1];
        const Key begin = cell * n_classes, end = begin + n_classes;
        for (const uint32_t* at = std::lower_bound(first, last, begin); at != last && *at < end; ++at) {
            visit(static_cast<int64_t>(*at - begin), sparse[at - keys]);
        }
    }

    // Calls visit(key, weight) for every occupied cell of a set, in order.
    template <typename Visit>
    void for_cells(int64_t set, Visit&& visit) const {
        for (int64_t i = dense_starts[set]; i < dense_starts[set + 1]; ++i) {
            if (dense[i] != Weight{0}) visit(static_cast<Key>(i - dense_starts[set]), dense[i]);
        }
        for (int64_t i = sparse_starts[set]; i < sparse_starts[set + 1]; ++i) visit(Key{keys[i]}, sparse[i]);
    }
};

template <typename Weight>
BlockView<Weight> view(Vector<const int64_t> dense_starts, Vector<const Weight> dense,
                       Vector<const int64_t> sparse_starts, Vector<const uint32_t> keys, Vector<const Weight> sparse) {
    return {dense_starts.data(), sparse_starts.data(), dense.data(), sparse.data(), keys.data()};
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

// log(count + added) for whole counts, looked up; computed for the rest.
struct LogTable {
    double added;
    std::vector<double> values;

    LogTable(double added_, size_t largest) : added(added_), values(largest + 1) {
        for (size_t i = 0; i <= largest; ++i) values[i] = std::log(static_cast<double>(i) + added);
    }
    template <typename Weight>
    double operator()(Weight weight) const {
        if constexpr (std::is_integral_v<Weight>) {
            if (weight < values.size()) return values[weight];
        }
        return std::log(static_cast<double>(weight) + added);
    }
};

// log of the weighted mean over parent sets S of P(y, x_S) * prod_i P(x_i | y, x_S), the features of a set counted as
// one variable. Sets that hold a marginalized value or occur less than `min_count` times do not count for a row; where
// none does, the row is NaN. The weight below P(x_i | y, x_S) is N(y, x_S); where x_i was sometimes missing (`holes`) it
// is that of the rows which have it. `set_totals` are N(x_S known) and the pseudocounts of all cells.
template <typename Code, typename Weight>
nb::ndarray<nb::numpy, double> score_sets(
    Columns<const Code> codes, Vector<const int64_t> dense_starts, Vector<const Weight> dense,
    Vector<const int64_t> sparse_starts, Vector<const uint32_t> keys, Vector<const Weight> sparse,
    Vector<const int64_t> parent_dense_starts, Vector<const Weight> parent_dense,
    Vector<const int64_t> parent_sparse_starts, Vector<const uint32_t> parent_keys,
    Vector<const Weight> parent_sparse, Vector<const int64_t> cardinalities, int64_t n_classes, int64_t n_parents,
    Vector<const double> set_weights, Vector<const double> pseudocounts, Vector<const double> strengths,
    Vector<const double> set_pseudocounts, Vector<const double> set_totals, Vector<const bool> holes, double min_count,
    int n_threads) {
    const auto joint = view(dense_starts, dense, sparse_starts, keys, sparse);
    const auto parent = view(parent_dense_starts, parent_dense, parent_sparse_starts, parent_keys, parent_sparse);
    const size_t n_rows = codes.shape(0), width = static_cast<size_t>(n_classes);
    const int64_t m = static_cast<int64_t>(codes.shape(1)), size = n_parents + 1;
    std::vector<double> out(n_rows * width);
    {
        nb::gil_scoped_release release;
        const auto parents = subsets(m, n_parents), families = subsets(m, size);
        const int64_t n_sets = static_cast<int64_t>(parents.size()) / n_parents;
        const int64_t n_families = static_cast<int64_t>(families.size()) / size;
        const Ranks rank(m, n_parents);
        std::vector<int32_t> roles(families.size());  // the parent set left when the member is the child
        for (int64_t t = 0; t < n_families; ++t) {
            for (int64_t child = 0; child < size; ++child) {
                std::vector<int32_t> rest;
                for (int64_t i = 0; i < size; ++i) {
                    if (i != child) rest.push_back(families[t * size + i]);
                }
                roles[t * size + child] = static_cast<int32_t>(rank(rest));
            }
        }
        double most = 0;
        for (int64_t s = 0; s < n_sets; ++s) most = std::max(most, set_totals(s));
        const size_t largest = std::is_integral_v<Weight> ? static_cast<size_t>(std::min(most, 65535.0)) : 0;
        std::vector<LogTable> tables;  // one per distinct pseudocount
        std::vector<size_t> table_of(m);
        std::vector<double> distinct;  // strengths
        std::vector<size_t> strength_of(m);
        for (int64_t i = 0; i < m; ++i) {
            size_t t = 0;
            while (t < tables.size() && tables[t].added != pseudocounts(i)) ++t;
            if (t == tables.size()) tables.emplace_back(pseudocounts(i), largest);
            table_of[i] = t;
            size_t s = 0;
            while (s < distinct.size() && distinct[s] != strengths(i)) ++s;
            if (s == distinct.size()) distinct.push_back(strengths(i));
            strength_of[i] = s;
        }
        constexpr size_t STEP = 16;
        parallel_for((n_rows + STEP - 1) / STEP, n_threads, [&](size_t step) {
            std::vector<double> sums(n_sets * width), weights(n_sets * width), term(width);
            std::vector<uint8_t> active(n_sets), known(m);
            for (size_t r = step * STEP; r < std::min(n_rows, (step + 1) * STEP); ++r) {
                const auto code = [&](int32_t j) { return codes.data()[static_cast<size_t>(j) * n_rows + r]; };
                std::vector<int64_t> children(distinct.size(), 0);
                for (int32_t j = 0; j < m; ++j) {
                    known[j] = code(j) != cardinalities(j);
                    children[strength_of[j]] += known[j] && !holes(j);
                }
                const auto locate = [&](const int32_t* members, int64_t n, Key& cell) {
                    cell = 0;
                    for (int64_t i = 0; i < n; ++i) {
                        if (!known[members[i]]) return false;
                        cell = cell * static_cast<Key>(cardinalities(members[i])) + code(members[i]);
                    }
                    return true;
                };
                std::fill(sums.begin(), sums.end(), 0.0);
                std::fill(weights.begin(), weights.end(), 0.0);
                Key cell;
                for (int64_t s = 0; s < n_sets; ++s) {
                    active[s] = set_weights(s) > 0 && locate(&parents[s * n_parents], n_parents, cell);
                    if (!active[s]) continue;
                    double seen = 0;
                    parent.for_classes(s, cell, n_classes, [&](int64_t c, Weight weight) {
                        weights[s * width + c] = static_cast<double>(weight);
                        seen += static_cast<double>(weight);
                    });
                    active[s] = seen >= min_count;
                }
                for (int64_t t = 0; t < n_families; ++t) {
                    const int32_t* members = &families[t * size];
                    const int32_t* sets = &roles[t * size];
                    bool any = false;
                    for (int64_t i = 0; i < size; ++i) any |= active[sets[i]] != 0;
                    if (!any || !locate(members, size, cell)) continue;
                    const Weight* at = joint.dense + joint.dense_starts[t] + cell * n_classes;
                    std::vector<Weight> gathered;
                    if (joint.dense_starts[t + 1] == joint.dense_starts[t]) {
                        gathered.assign(width, Weight{0});
                        joint.for_classes(t, cell, n_classes, [&](int64_t c, Weight w) { gathered[c] = w; });
                        at = gathered.data();
                    }
                    size_t filled = tables.size();
                    Key stride = 1;
                    for (int64_t i = size - 1; i >= 0; stride *= static_cast<Key>(cardinalities(members[i--]))) {
                        if (!active[sets[i]]) continue;
                        const int32_t child = members[i];
                        if (holes(child)) {
                            std::vector<double> known_weights(width);
                            const Key first = cell - code(child) * stride;
                            for (int64_t v = 0; v < cardinalities(child); ++v) {
                                joint.for_classes(t, first + static_cast<Key>(v) * stride, n_classes,
                                                  [&](int64_t c, Weight w) { known_weights[c] += static_cast<double>(w); });
                            }
                            for (size_t c = 0; c < width; ++c) {
                                const double below = known_weights[c] + strengths(child);
                                const double above = static_cast<double>(at[c]) + pseudocounts(child);
                                sums[sets[i] * width + c] += below > 0 ? std::log(above) - std::log(below)
                                                                       : -std::log(static_cast<double>(cardinalities(child)));
                            }
                            continue;
                        }
                        const size_t table = table_of[members[i]];
                        if (table != filled) {
                            for (size_t c = 0; c < width; ++c) term[c] = tables[table](at[c]);
                            filled = table;
                        }
                        double* sum = &sums[sets[i] * width];
                        for (size_t c = 0; c < width; ++c) sum[c] += term[c];
                    }
                }
                std::vector<double> largest_joint(width, -std::numeric_limits<double>::infinity());
                double total_weight = 0;
                for (int64_t s = 0; s < n_sets; ++s) {
                    if (!active[s]) continue;
                    total_weight += set_weights(s);
                    auto left = children;
                    for (int64_t i = 0; i < n_parents; ++i) {
                        const int32_t member = parents[s * n_parents + i];
                        left[strength_of[member]] -= !holes(member);
                    }
                    for (size_t c = 0; c < width; ++c) {
                        const double weight = weights[s * width + c], added = weight + set_pseudocounts(s);
                        double& log_joint = sums[s * width + c];
                        if (added <= 0) {
                            log_joint = -std::numeric_limits<double>::infinity();
                        } else {
                            log_joint += std::log(set_weights(s) * added / set_totals(s));
                            for (size_t g = 0; g < distinct.size(); ++g) {
                                if (left[g]) log_joint -= static_cast<double>(left[g]) * std::log(weight + distinct[g]);
                            }
                        }
                        largest_joint[c] = std::max(largest_joint[c], log_joint);
                    }
                }
                for (size_t c = 0; c < width; ++c) {
                    double sum = 0;
                    for (int64_t s = 0; s < n_sets; ++s) {
                        if (active[s] && std::isfinite(largest_joint[c])) {
                            sum += std::exp(sums[s * width + c] - largest_joint[c]);
                        }
                    }
                    out[r * width + c] = total_weight > 0 ? std::log(sum / total_weight) + largest_joint[c]
                                                          : std::numeric_limits<double>::quiet_NaN();
                    if (total_weight > 0 && !std::isfinite(largest_joint[c])) {
                        out[r * width + c] = -std::numeric_limits<double>::infinity();
                    }
                }
            }
        });
    }
    return as_numpy(std::move(out), {n_rows, width});
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

template <typename Code, typename Weight>
void bind_score(nb::module_& module) {
    module.def("score_sets", &score_sets<Code, Weight>, nb::arg("codes").noconvert(), nb::arg("dense_starts"),
               nb::arg("dense").noconvert(), nb::arg("sparse_starts"), nb::arg("keys"), nb::arg("sparse").noconvert(),
               nb::arg("parent_dense_starts"), nb::arg("parent_dense").noconvert(), nb::arg("parent_sparse_starts"),
               nb::arg("parent_keys"), nb::arg("parent_sparse").noconvert(), nb::arg("cardinalities"),
               nb::arg("n_classes"), nb::arg("n_parents"), nb::arg("set_weights"), nb::arg("pseudocounts"),
               nb::arg("strengths"), nb::arg("set_pseudocounts"), nb::arg("set_totals"), nb::arg("holes"),
               nb::arg("min_count"), nb::arg("n_threads"));
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
    bind_score<Code, uint8_t>(module);
    bind_score<Code, uint16_t>(module);
    bind_score<Code, uint32_t>(module);
    bind_score<Code, double>(module);
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
