// The weight of each value of a column in each class: counted where values are integers of a small range, else sorted.
#include "columns.hpp"

#include <nanobind/stl/optional.h>

#include <bit>
#include <numeric>
#include <optional>

namespace {

constexpr size_t MOST_TOGETHER = 64;  // a block of more neighbouring columns is too much for a processor's own memory

// Call `work(column, start, count)` so that the columns of a group advance through the rows together.
template <typename Work>
void for_each_block(const std::vector<Values>& values, int n_threads, Work&& work) {
    const size_t n_rows = values.empty() ? 0 : values[0].n_rows, threads = size_t(std::max(n_threads, 1));
    const size_t size = std::clamp<size_t>((values.size() + threads - 1) / threads, 1, MOST_TOGETHER);
    parallel_for((values.size() + size - 1) / size, n_threads, [&](size_t group) {
        const size_t end = std::min(values.size(), (group + 1) * size);
        for (size_t start = 0; start < n_rows; start += BLOCK) {
            check_interrupt_at(start);
            for (size_t j = group * size; j < end; ++j) work(j, start, std::min(BLOCK, n_rows - start));
        }
    });
}

// (n_columns, 2): the lowest and the highest number of each integer column.
nb::ndarray<nb::numpy, int64_t> integer_ranges(const nb::sequence& columns, int n_threads) {
    const auto held = columns_of(columns);
    const auto values = values_of(held);
    std::vector<int64_t> ranges(2 * values.size());
    for (size_t j = 0; j < values.size(); ++j) {
        ranges[2 * j] = std::numeric_limits<int64_t>::max();
        ranges[2 * j + 1] = std::numeric_limits<int64_t>::min();
    }
    {
        nb::gil_scoped_release released;
        for_each_block(values, n_threads, [&](size_t j, size_t start, size_t count) {
            with_integer_type(values[j].type, [&](auto type) {
                using T = decltype(type);
                T lowest = values[j].at<T>(start), highest = lowest;
                for (size_t i = 1; i < count; ++i) {
                    const T value = values[j].at<T>(start + i);
                    lowest = std::min(lowest, value);
                    highest = std::max(highest, value);
                }
                ranges[2 * j] = std::min(ranges[2 * j], as_integer(lowest));
                ranges[2 * j + 1] = std::max(ranges[2 * j + 1], as_integer(highest));
            });
        });
    }
    const size_t n_columns = values.size();
    return as_numpy(std::move(ranges), {n_columns, 2});
}

using Classes = std::optional<Input<uint32_t>>;
using Weights = std::optional<Input<double>>;

// One array (range, n_classes) for each integer column: the weight of every value from the lowest to the highest.
nb::list count_integers(const nb::sequence& columns, Matrix<const int64_t> ranges, const Classes& classes,
                        size_t n_classes, const Weights& weights, int n_threads) {
    const auto held = columns_of(columns);
    const auto values = values_of(held);
    const uint32_t* row_class = classes ? classes->data() : nullptr;
    const double* row_weight = weights ? weights->data() : nullptr;
    std::vector<std::vector<double>> counts(values.size());
    std::vector<size_t> sizes(values.size());
    {
        nb::gil_scoped_release released;
        for (size_t j = 0; j < values.size(); ++j) {
            sizes[j] = size_t(ranges(j, 1) - ranges(j, 0) + 1);
            counts[j].assign(sizes[j] * n_classes, 0.0);
        }
        for_each_block(values, n_threads, [&](size_t j, size_t start, size_t count) {
            double* cells = counts[j].data();
            const int64_t lowest = ranges(j, 0);
            with_integer_type(values[j].type, [&](auto type) {
                for (size_t row = start; row < start + count; ++row) {
                    const size_t value = size_t(as_integer(values[j].at<decltype(type)>(row)) - lowest);
                    cells[value * n_classes + (row_class ? row_class[row] : 0)] += row_weight ? row_weight[row] : 1.0;
                }
            });
        });
    }
    nb::list result;
    for (size_t j = 0; j < values.size(); ++j)
        result.append(nb::cast(as_numpy(std::move(counts[j]), {sizes[j], n_classes})));
    return result;
}

// A value, as an unsigned integer of the same order, and its row, or its class where rows weigh the same.
struct Keyed {
    uint64_t key;
    uint64_t source;
};

constexpr uint64_t SIGN = uint64_t(1) << 63;

uint64_t key_of(double value) {
    // Adding zero turns -0.0 into 0.0.
    const uint64_t bits = std::bit_cast<uint64_t>(value + 0.0);
    return bits & SIGN ? ~bits : bits | SIGN;
}

double value_of(uint64_t key) { return std::bit_cast<double>(key & SIGN ? key ^ SIGN : ~key); }

// Stable radix sort; digits in which all keys agree, such as the low ones of integers, cost nothing.
void sort_by_key(std::vector<Keyed>& keyed) {
    constexpr int DIGIT = 11;
    constexpr uint64_t MASK = (uint64_t(1) << DIGIT) - 1;
    if (keyed.size() < 4 * MASK) {
        std::stable_sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
        return;
    }
    std::vector<Keyed> sorted(keyed.size());
    for (int shift = 0; shift < 64; shift += DIGIT) {
        check_interrupt();
        std::vector<size_t> at(MASK + 2);
        for (const Keyed& each : keyed) ++at[((each.key >> shift) & MASK) + 1];
        if (std::find(at.begin(), at.end(), keyed.size()) != at.end()) continue;
        std::partial_sum(at.begin(), at.end(), at.begin());
        for (const Keyed& each : keyed) sorted[at[(each.key >> shift) & MASK]++] = each;
        keyed.swap(sorted);
    }
}

struct Cells {
    std::vector<double> values, weights, missing;
    std::vector<int64_t> starts;
    std::vector<uint32_t> classes;

    // A vector that grows holds twice what it needs.
    void reserve(size_t n_values) {
        values.reserve(n_values);
        starts.reserve(n_values + 1);
        weights.reserve(n_values);
        classes.reserve(n_values);
    }
};

// The weights of one value by class, those without rows left out.
class Tally {
  public:
    explicit Tally(size_t n_classes) : sums_(n_classes), seen_(n_classes) {}

    void add(uint32_t group, double weight) {
        if (!seen_[group]) present_.push_back(group);
        seen_[group] = true;
        sums_[group] += weight;
    }
    void move_to(Cells& cells) {
        std::sort(present_.begin(), present_.end());
        for (const uint32_t group : present_) {
            cells.classes.push_back(group);
            cells.weights.push_back(sums_[group]);
            sums_[group] = 0;
            seen_[group] = false;
        }
        present_.clear();
    }

  private:
    std::vector<double> sums_;
    std::vector<char> seen_;
    std::vector<uint32_t> present_;
};

Cells cells_of(const Values& values, const uint32_t* classes, size_t n_classes, const double* weights) {
    Cells cells;
    cells.missing.resize(n_classes);
    const auto class_of = [&](size_t row) { return classes ? classes[row] : 0; };
    const auto group = [&](size_t source) { return weights ? class_of(source) : uint32_t(source); };
    const auto weight = [&](size_t source) { return weights ? weights[source] : 1.0; };
    std::vector<Keyed> keyed;
    keyed.reserve(values.n_rows);
    with_type(values, [&](auto type) {
        for (size_t row = 0; row < values.n_rows; ++row) {
            check_interrupt_at(row);
            const double value = double(values.at<decltype(type)>(row));
            const size_t source = weights ? row : class_of(row);
            if (value == value)
                keyed.push_back({key_of(value), source});
            else
                cells.missing[group(source)] += weight(source);
        }
    });
    sort_by_key(keyed);
    size_t n_values = !keyed.empty();
    for (size_t i = 1; i < keyed.size(); ++i) n_values += keyed[i].key != keyed[i - 1].key;
    cells.reserve(n_values);
    Tally tally(n_classes);
    for (size_t i = 0; i < keyed.size(); ++i) {
        check_interrupt_at(i);
        tally.add(group(keyed[i].source), weight(keyed[i].source));
        if (i + 1 < keyed.size() && keyed[i].key == keyed[i + 1].key) continue;
        cells.values.push_back(value_of(keyed[i].key));
        cells.starts.push_back(int64_t(cells.classes.size()));
        tally.move_to(cells);
    }
    cells.starts.push_back(int64_t(cells.classes.size()));
    return cells;
}

// The distinct values of a column, ascending, and for each its classes and their weights: those of value i stand at
// starts[i] .. starts[i + 1]. Last, the weight of missing values in each class.
nb::tuple sort_cells(const AnyColumn& column, const Classes& classes, size_t n_classes, const Weights& weights) {
    const Values values = values_of(column);
    Cells cells;
    {
        nb::gil_scoped_release released;
        cells = cells_of(values, classes ? classes->data() : nullptr, n_classes, weights ? weights->data() : nullptr);
    }
    const size_t n_values = cells.values.size(), n_cells = cells.classes.size();
    return nb::make_tuple(as_numpy(std::move(cells.values), {n_values}),
                          as_numpy(std::move(cells.starts), {n_values + 1}),
                          as_numpy(std::move(cells.classes), {n_cells}),
                          as_numpy(std::move(cells.weights), {n_cells}),
                          as_numpy(std::move(cells.missing), {n_classes}));
}

}  // namespace

void bind_summaries(nb::module_& module) {
    module.def("integer_ranges", &integer_ranges, nb::arg("columns"), nb::arg("n_threads"));
    module.def("count_integers", &count_integers, nb::arg("columns"), nb::arg("ranges"), nb::arg("classes").none(),
               nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("n_threads"));
    module.def("sort_cells", &sort_cells, nb::arg("column"), nb::arg("classes").none(), nb::arg("n_classes"),
               nb::arg("weights").none());
}
