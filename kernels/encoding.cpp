// From values to codes, by the books of their columns.
#include "columns.hpp"

#include <cmath>

namespace {

constexpr size_t LARGEST_TABLE = size_t(1) << 20;
constexpr size_t MOST_COUNTED_EDGES = 24;

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
}
