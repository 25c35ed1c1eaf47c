// The log joint of coded rows under AnDE, from packed blocks of counts.
#include <cmath>
#include <limits>

#include "log_tables.hpp"
#include "parent_sets.hpp"

namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NEGLIGIBLE = -60;  // a log joint so far below the largest is lost in rounding
constexpr size_t SUMS = size_t{1} << 20;  // (set, row, class) sums that are worked on together

MULTIVERSION void add(const double* terms, size_t n, double* sums) {
    for (size_t i = 0; i < n; ++i) sums[i] += terms[i];
}

MULTIVERSION void raise(const double* values, size_t n, double* largest) {
    for (size_t i = 0; i < n; ++i) largest[i] = std::max(largest[i], values[i]);
}

// A few rows, and the log joint of each set of parents so far: -inf where the set does not count.
struct Chunk {
    size_t first, n;
    std::vector<double> sums;           // (sets, rows, classes)
    std::vector<double> active_weight;  // (rows,) of the sets that count
};

// log of the weighted mean over parent sets S of P(y, x_S) * prod_i P(x_i | y, x_S), the features of a set counted as
// one variable. Sets that hold a marginalized value or occur less than `min_count` times do not count for a row; where
// none does, the row is NaN. The weight below P(x_i | y, x_S) is N(y, x_S); where x_i was sometimes missing (`holes`) it
// is that of the rows which have it. `set_totals` are N(x_S known) and the pseudocounts of all cells.
template <typename Code, typename Weight>
struct Scorer {
    Columns<const Code> codes;
    BlockView<Weight> joint, parent;
    const int64_t* cardinalities;
    size_t width;
    int64_t n_parents;
    const double *set_weights, *set_totals, *pseudocounts, *strengths;
    const bool* holes;
    double min_count;
    LogTables of_child, of_strength, of_set;
    std::vector<int32_t> parents = subsets(codes.shape(1), n_parents);
    std::vector<int32_t> families = subsets(codes.shape(1), n_parents + 1);
    std::vector<int32_t> roles = remaining_sets();

    void score(size_t first, size_t n, double* out) const {
        Chunk chunk{first, n, std::vector<double>(n_sets() * n * width), std::vector<double>(n)};
        start_sums(chunk);
        add_families(chunk);
        average(chunk, out);
    }

    size_t n_sets() const { return parents.size() / n_parents; }

    // For each member of each family, the set that the other members are.
    std::vector<int32_t> remaining_sets() const {
        const Ranks rank(codes.shape(1), n_parents);
        const size_t size = n_parents + 1;
        std::vector<int32_t> sets(families.size()), rest(n_parents);
        for (size_t at = 0; at < families.size(); ++at) {
            const int32_t* members = &families[at - at % size];
            for (size_t i = 0; i + 1 < size; ++i) rest[i] = members[i + (i >= at % size)];
            sets[at] = static_cast<int32_t>(rank(rest));
        }
        return sets;
    }

    // The weights of the classes in each row's cell of a set, (rows, classes); zeros where a member is marginalized.
    void read_cells(const BlockView<Weight>& block, size_t set, const int32_t* members, int64_t size,
                    const Chunk& chunk, std::vector<uint32_t>& cells, std::vector<Weight>& counts,
                    std::vector<uint8_t>& known) const {
        cells.assign(chunk.n, 0);
        counts.assign(chunk.n * width, Weight{0});
        known.assign(chunk.n, 1);
        for (int64_t i = 0; i < size; ++i) {
            const Code* column = codes.data() + members[i] * codes.shape(0) + chunk.first;
            const uint32_t radix = static_cast<uint32_t>(cardinalities[members[i]]);
            for (size_t r = 0; r < chunk.n; ++r) {
                cells[r] = cells[r] * radix + column[r];
                known[r] &= column[r] != radix;
            }
        }
        for (size_t r = 0; r < chunk.n; ++r) {
            if (known[r]) block.copy_classes(set, cells[r], width, &counts[r * width]);
        }
    }

    // How many features of each group of equal strengths are known in each row, those with holes apart, (groups, rows).
    std::vector<double> known_features(const Chunk& chunk) const {
        std::vector<double> known(of_strength.tables.size() * chunk.n);
        for (size_t j = 0; j < codes.shape(1); ++j) {
            if (holes[j]) continue;
            const Code* column = codes.data() + j * codes.shape(0) + chunk.first;
            double* mine = &known[of_strength.of[j] * chunk.n];
            for (size_t r = 0; r < chunk.n; ++r) mine[r] += column[r] != cardinalities[j];
        }
        return known;
    }

    // log P(y, x_S), and the denominators of all children.
    void start_sums(Chunk& chunk) const {
        const auto features = known_features(chunk);
        std::vector<uint32_t> cells;
        std::vector<Weight> counts;
        std::vector<uint8_t> known;
        std::vector<double> logs(chunk.n * width);
        for (size_t s = 0; s < n_sets(); ++s) {
            const int32_t* members = &parents[s * n_parents];
            double* sums = &chunk.sums[s * chunk.n * width];
            read_cells(parent, s, members, n_parents, chunk, cells, counts, known);
            of_set.tables[of_set.of[s]](counts.data(), counts.size(), sums);
            for (size_t g = 0; g < of_strength.tables.size(); ++g) {
                double parents_of_group = 0;
                for (int64_t i = 0; i < n_parents; ++i) {
                    parents_of_group += of_strength.of[members[i]] == g && !holes[members[i]];
                }
                of_strength.tables[g](counts.data(), counts.size(), logs.data());
                for (size_t i = 0; i < counts.size(); ++i) {
                    const double children = features[g * chunk.n + i / width] - parents_of_group;
                    if (children > 0 && sums[i] > -INFINITE) sums[i] -= children * logs[i];
                }
            }
            const double log_weight = std::log(set_weights[s] / set_totals[s]);
            for (size_t r = 0; r < chunk.n; ++r) {
                double seen = 0;
                for (size_t c = 0; c < width; ++c) seen += static_cast<double>(counts[r * width + c]);
                const bool active = known[r] && set_weights[s] > 0 && seen >= min_count;
                if (active) chunk.active_weight[r] += set_weights[s];
                for (size_t c = 0; c < width; ++c) sums[r * width + c] += active ? log_weight : -INFINITE;
            }
        }
    }

    // The numerators of all children: the count of a family serves every role its members play.
    void add_families(Chunk& chunk) const {
        const int64_t size = n_parents + 1;
        std::vector<uint32_t> cells;
        std::vector<Weight> counts;
        std::vector<uint8_t> known;
        std::vector<double> terms(chunk.n * width);
        for (size_t t = 0; t < families.size() / size; ++t) {
            const int32_t *members = &families[t * size], *sets = &roles[t * size];
            read_cells(joint, t, members, size, chunk, cells, counts, known);
            size_t filled = of_child.tables.size();
            for (int64_t i = 0; i < size; ++i) {
                if (holes[members[i]]) {
                    add_sometimes_missing(chunk, t, i, cells, counts, known);
                    continue;
                }
                const size_t table = of_child.of[members[i]];
                if (table != filled) {
                    of_child.tables[table](counts.data(), counts.size(), terms.data());
                    for (size_t r = 0; r < chunk.n; ++r) {
                        if (!known[r]) std::fill_n(&terms[r * width], width, 0.0);
                    }
                    filled = table;
                }
                add(terms.data(), terms.size(), &chunk.sums[sets[i] * terms.size()]);
            }
        }
    }

    // The terms of a child that was sometimes missing, with the weight of the rows that have it below them.
    void add_sometimes_missing(Chunk& chunk, size_t family, int64_t at, const std::vector<uint32_t>& cells,
                               const std::vector<Weight>& counts, const std::vector<uint8_t>& known) const {
        const int32_t* members = &families[family * (n_parents + 1)];
        const int32_t child = members[at];
        uint32_t stride = 1;
        for (int64_t i = at + 1; i <= n_parents; ++i) stride *= static_cast<uint32_t>(cardinalities[members[i]]);
        double* sums = &chunk.sums[roles[family * (n_parents + 1) + at] * chunk.n * width];
        std::vector<double> below(width);
        std::vector<Weight> of_value(width);
        for (size_t r = 0; r < chunk.n; ++r) {
            if (!known[r]) continue;
            const uint32_t code = codes.data()[child * codes.shape(0) + chunk.first + r];
            std::fill(below.begin(), below.end(), strengths[child]);
            for (int64_t value = 0; value < cardinalities[child]; ++value) {
                std::fill(of_value.begin(), of_value.end(), Weight{0});
                const uint32_t cell = cells[r] - code * stride + static_cast<uint32_t>(value) * stride;
                joint.copy_classes(family, cell, width, of_value.data());
                for (size_t c = 0; c < width; ++c) below[c] += static_cast<double>(of_value[c]);
            }
            for (size_t c = 0; c < width; ++c) {
                const double above = static_cast<double>(counts[r * width + c]) + pseudocounts[child];
                sums[r * width + c] += below[c] > 0 ? std::log(above) - std::log(below[c])
                                                    : -std::log(static_cast<double>(cardinalities[child]));
            }
        }
    }

    void average(const Chunk& chunk, double* out) const {
        const size_t n = chunk.n * width;
        std::vector<double> largest(n, -INFINITE), means(n);
        for (size_t s = 0; s < n_sets(); ++s) raise(&chunk.sums[s * n], n, largest.data());
        for (size_t s = 0; s < n_sets(); ++s) {
            for (size_t i = 0; i < n; ++i) {
                const double gap = chunk.sums[s * n + i] - largest[i];
                if (gap > NEGLIGIBLE) means[i] += std::exp(gap);
            }
        }
        for (size_t i = 0; i < n; ++i) {
            const double weight = chunk.active_weight[i / width];
            const double mean = means[i] > 0 ? std::log(means[i] / weight) + largest[i] : -INFINITE;
            out[i] = weight > 0 ? mean : std::numeric_limits<double>::quiet_NaN();
        }
    }
};

template <typename Code, typename Weight>
nb::ndarray<nb::numpy, double> score_sets(
    Columns<const Code> codes, Vector<const int64_t> dense_starts, Vector<const Weight> dense,
    Vector<const int64_t> sparse_starts, Vector<const uint32_t> keys, Vector<const Weight> sparse,
    Vector<const int64_t> parent_dense_starts, Vector<const Weight> parent_dense,
    Vector<const int64_t> parent_sparse_starts, Vector<const uint32_t> parent_keys,
    Vector<const Weight> parent_sparse, Vector<const int64_t> cardinalities, size_t n_classes, int64_t n_parents,
    Vector<const double> set_weights, Vector<const double> pseudocounts, Vector<const double> strengths,
    Vector<const double> set_pseudocounts, Vector<const double> set_totals, Vector<const bool> holes, double min_count,
    int n_threads) {
    const size_t n_rows = codes.shape(0), n_sets = set_weights.shape(0);
    std::vector<double> out(n_rows * n_classes);
    {
        nb::gil_scoped_release release;
        const double total = *std::max_element(set_totals.data(), set_totals.data() + n_sets);
        const double n_lookups = static_cast<double>(out.size()) * static_cast<double>(n_sets);
        const Scorer<Code, Weight> scorer{
            codes,
            view(dense_starts, dense, sparse_starts, keys, sparse),
            view(parent_dense_starts, parent_dense, parent_sparse_starts, parent_keys, parent_sparse),
            cardinalities.data(),
            n_classes,
            n_parents,
            set_weights.data(),
            set_totals.data(),
            pseudocounts.data(),
            strengths.data(),
            holes.data(),
            min_count,
            LogTables(pseudocounts, total, n_lookups * static_cast<double>(codes.shape(1))),
            LogTables(strengths, total, n_lookups),
            LogTables(set_pseudocounts, total, n_lookups)};
        const size_t step = std::clamp<size_t>(SUMS / std::max<size_t>(n_sets * n_classes, 1), 16, 512);
        parallel_for((n_rows + step - 1) / step, n_threads, [&](size_t i) {
            scorer.score(i * step, std::min(step, n_rows - i * step), &out[i * step * n_classes]);
        });
    }
    return as_numpy(std::move(out), {n_rows, n_classes});
}

template <typename Code, typename Weight>
void bind(nb::module_& module) {
    module.def("score_sets", &score_sets<Code, Weight>, nb::arg("codes").noconvert(), nb::arg("dense_starts"),
               nb::arg("dense").noconvert(), nb::arg("sparse_starts"), nb::arg("keys"), nb::arg("sparse").noconvert(),
               nb::arg("parent_dense_starts"), nb::arg("parent_dense").noconvert(), nb::arg("parent_sparse_starts"),
               nb::arg("parent_keys"), nb::arg("parent_sparse").noconvert(), nb::arg("cardinalities"),
               nb::arg("n_classes"), nb::arg("n_parents"), nb::arg("set_weights"), nb::arg("pseudocounts"),
               nb::arg("strengths"), nb::arg("set_pseudocounts"), nb::arg("set_totals"), nb::arg("holes"),
               nb::arg("min_count"), nb::arg("n_threads"));
}

template <typename Code>
void bind_codes(nb::module_& module) {
    bind<Code, uint8_t>(module);
    bind<Code, uint16_t>(module);
    bind<Code, uint32_t>(module);
    bind<Code, double>(module);
}

}  // namespace

void bind_parent_set_scoring(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
}
