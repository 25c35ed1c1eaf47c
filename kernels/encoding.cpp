// From values to codes: coding columns, counting or sorting their values, and the entropy search for cut points.
#include "kernels.hpp"

#include <nanobind/stl/optional.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace {

// A block of rows of a row-major matrix stays in the second-level cache while its columns are read one after another.
constexpr size_t BLOCK = 512;
// So many neighbouring columns are counted together: eight 64-bit numbers share a cache line.
constexpr size_t GROUP = 8;
constexpr size_t LARGEST_TABLE = size_t(1) << 20;
constexpr size_t MOST_COUNTED_EDGES = 24;

using AnyColumn = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
template <typename T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Values {
    const char* data;
    std::ptrdiff_t stride;  // bytes from one row to the next
    size_t n_rows;
    nb::dlpack::dtype type;

    bool integral() const { return type.code != uint8_t(nb::dlpack::dtype_code::Float); }
    template <typename T>
    T at(size_t row) const {
        return *reinterpret_cast<const T*>(data + std::ptrdiff_t(row) * stride);
    }
};

Values values_of(const AnyColumn& column) {
    const size_t bytes = column.dtype().bits / 8;
    return {static_cast<const char*>(column.data()), column.stride(0) * std::ptrdiff_t(bytes), column.shape(0),
            column.dtype()};
}

std::vector<AnyColumn> columns_of(const nb::sequence& columns) {
    std::vector<AnyColumn> held;
    for (nb::handle column : columns) held.push_back(nb::cast<AnyColumn>(column));
    return held;
}

std::vector<Values> values_of(const std::vector<AnyColumn>& columns) {
    std::vector<Values> values;
    for (const auto& column : columns) values.push_back(values_of(column));
    return values;
}

// Call `visit` with a number of the column's type: its value is of no interest.
template <typename Visit>
void with_integer_type(nb::dlpack::dtype type, Visit&& visit) {
    const bool is_signed = type.code == uint8_t(nb::dlpack::dtype_code::Int);
    if (type.bits == 8) return is_signed ? visit(int8_t()) : visit(uint8_t());
    if (type.bits == 16) return is_signed ? visit(int16_t()) : visit(uint16_t());
    if (type.bits == 32) return is_signed ? visit(int32_t()) : visit(uint32_t());
    if (type.bits == 64) return is_signed ? visit(int64_t()) : visit(uint64_t());
    throw std::invalid_argument("an integer column has 8, 16, 32 or 64 bits");
}

template <typename Visit>
void with_type(const Values& values, Visit&& visit) {
    if (values.integral()) return with_integer_type(values.type, visit);
    if (values.type.bits == 32) return visit(float());
    if (values.type.bits == 64) return visit(double());
    throw std::invalid_argument("a floating-point column has 32 or 64 bits");
}

template <typename T>
int64_t as_integer(T value) {
    if constexpr (std::is_same_v<T, uint64_t>)
        return int64_t(std::min<uint64_t>(value, uint64_t(std::numeric_limits<int64_t>::max())));
    else
        return int64_t(value);
}

// How the values of one column become codes. `targets[number of edges <= x]` is the code of x; where `exact`, the
// edges are the known values themselves and anything else is `unseen`.
struct Book {
    Input<double> edges;
    Input<uint32_t> targets;
    bool exact;
    uint32_t missing, unseen;

    uint32_t code(size_t position, double value) const {
        if (value != value) return missing;
        if (!exact) return targets.data()[position];
        const bool known = position > 0 && edges.data()[position - 1] == value;
        return known ? targets.data()[position - 1] : unseen;
    }
};

Book book_of(nb::handle handle) {
    const auto fields = nb::cast<nb::tuple>(handle);
    return {nb::cast<Input<double>>(fields[0]), nb::cast<Input<uint32_t>>(fields[1]), nb::cast<bool>(fields[2]),
            nb::cast<uint32_t>(fields[3]), nb::cast<uint32_t>(fields[4])};
}

// The codes of the integers lowest .. lowest + size - 3, with one entry more on each side for all that lies outside.
struct Lookup {
    int64_t lowest = 0;
    std::vector<uint32_t> codes;

    template <typename T>
    void code(const Values& values, size_t start, size_t count, uint32_t* codes_out) const {
        const int64_t highest = lowest + int64_t(codes.size()) - 3;
        for (size_t i = 0; i < count; ++i) {
            const int64_t value = as_integer(values.at<T>(start + i));
            const int64_t index = value < lowest ? 0 : (value > highest ? highest + 1 : value) - lowest + 1;
            codes_out[i] = codes[size_t(index)];
        }
    }
};

Lookup lookup_of(const Book& book, const Values& values) {
    Lookup lookup;
    const size_t n_edges = book.edges.shape(0);
    if (!values.integral() || n_edges == 0) return lookup;
    const double first = std::floor(book.edges.data()[0]), last = std::ceil(book.edges.data()[n_edges - 1]);
    // A table longer than the column costs more than it saves.
    const double longest = double(std::min(LARGEST_TABLE, 4 * values.n_rows));
    if (!(std::abs(first) < 9e15 && std::abs(last) < 9e15 && last - first + 3 <= longest)) return lookup;
    lookup.lowest = int64_t(first);
    lookup.codes.push_back(book.code(0, first - 1));
    size_t position = 0;
    for (double value = first; value <= last + 1; ++value) {
        while (position < n_edges && book.edges.data()[position] <= value) ++position;
        lookup.codes.push_back(book.code(position, value));
    }
    return lookup;
}

MULTIVERSION void count_edges(const double* values, size_t count, const double* edges, size_t n_edges, int64_t* at) {
    for (size_t i = 0; i < count; ++i) at[i] = 0;
    for (size_t edge = 0; edge < n_edges; ++edge)
        for (size_t i = 0; i < count; ++i) at[i] += edges[edge] <= values[i];
}

// Binary search without branches, all rows a step at a time.
MULTIVERSION void search_edges(const double* values, size_t count, const double* edges, size_t n_edges, int64_t* at) {
    for (size_t i = 0; i < count; ++i) at[i] = 0;
    for (size_t left = n_edges; left > 1;) {
        const int64_t half = int64_t(left / 2);
        for (size_t i = 0; i < count; ++i) at[i] += edges[at[i] + half - 1] <= values[i] ? half : 0;
        left -= size_t(half);
    }
    for (size_t i = 0; i < count; ++i) at[i] += edges[at[i]] <= values[i];
}

void code_by_search(const Book& book, const Values& values, size_t start, size_t count, uint32_t* codes) {
    double numbers[BLOCK];
    int64_t at[BLOCK];
    with_type(values, [&](auto type) {
        for (size_t i = 0; i < count; ++i) numbers[i] = double(values.at<decltype(type)>(start + i));
    });
    const size_t n_edges = book.edges.shape(0);
    const auto find = n_edges <= MOST_COUNTED_EDGES ? count_edges : search_edges;
    find(numbers, count, book.edges.data(), n_edges, at);
    for (size_t i = 0; i < count; ++i) codes[i] = book.code(size_t(at[i]), numbers[i]);
}

// Column j of the result holds the codes of `columns[j]` by `books[j]`.
template <typename Code>
void code_columns(const nb::sequence& columns, const nb::sequence& books, Columns<Code> codes, int n_threads) {
    const auto held = columns_of(columns);
    const auto values = values_of(held);
    std::vector<Book> rules;
    for (nb::handle book : books) rules.push_back(book_of(book));
    std::vector<Lookup> lookups;
    for (size_t j = 0; j < values.size(); ++j) lookups.push_back(lookup_of(rules[j], values[j]));
    const size_t n_rows = codes.shape(0);
    Code* out = codes.data();

    nb::gil_scoped_release released;
    parallel_for((n_rows + BLOCK - 1) / BLOCK, n_threads, [&](size_t block) {
        uint32_t buffer[BLOCK];
        const size_t start = block * BLOCK, count = std::min(BLOCK, n_rows - start);
        for (size_t j = 0; j < values.size(); ++j) {
            if (lookups[j].codes.empty())
                code_by_search(rules[j], values[j], start, count, buffer);
            else
                with_integer_type(values[j].type, [&](auto type) {
                    lookups[j].code<decltype(type)>(values[j], start, count, buffer);
                });
            for (size_t i = 0; i < count; ++i) out[j * n_rows + start + i] = Code(buffer[i]);
        }
    });
}

// Call `work(column, start, count)` so that the columns of a group advance through the rows together.
template <typename Work>
void for_each_block(const std::vector<Values>& values, int n_threads, Work&& work) {
    const size_t n_rows = values.empty() ? 0 : values[0].n_rows;
    parallel_for((values.size() + GROUP - 1) / GROUP, n_threads, [&](size_t group) {
        const size_t end = std::min(values.size(), (group + 1) * GROUP);
        for (size_t start = 0; start < n_rows; start += BLOCK)
            for (size_t j = group * GROUP; j < end; ++j) work(j, start, std::min(BLOCK, n_rows - start));
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
nb::ndarray<nb::numpy, int64_t> entropy_cuts(Input<int64_t> starts, Input<uint32_t> classes, Input<double> weights,
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

template <typename Code>
void bind_code_columns(nb::module_& module) {
    module.def("code_columns", &code_columns<Code>, nb::arg("columns"), nb::arg("books"),
               nb::arg("codes").noconvert(), nb::arg("n_threads"));
}

}  // namespace

void bind_encoding(nb::module_& module) {
    bind_code_columns<uint8_t>(module);
    bind_code_columns<uint16_t>(module);
    bind_code_columns<uint32_t>(module);
    module.def("integer_ranges", &integer_ranges, nb::arg("columns"), nb::arg("n_threads"));
    module.def("count_integers", &count_integers, nb::arg("columns"), nb::arg("ranges"), nb::arg("classes").none(),
               nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("n_threads"));
    module.def("sort_cells", &sort_cells, nb::arg("column"), nb::arg("classes").none(), nb::arg("n_classes"),
               nb::arg("weights").none());
    module.def("entropy_cuts", &entropy_cuts, nb::arg("starts"), nb::arg("classes"), nb::arg("weights"),
               nb::arg("n_classes"));
}
