// The terms of rows that walk down trees of contexts: in predictions, and with the row left out of what was counted.
#include "context_trees.hpp"

#include <cmath>

namespace {

constexpr size_t BLOCK = 8192;  // rows that a tree stays at hand for

// Adds the weighted log-probabilities of one family to a few rows, which go down the tree side by side: what the next
// step of a row needs is on its way from memory while the others take theirs.
template <typename Code>
void add_lanes(const Forest& forest, size_t family, const Code* codes, size_t n_rows, size_t first, size_t count,
               const double* weights, double* out, size_t n_classes) {
    const int64_t* variable = forest.variables + forest.starts[family];
    const size_t n_parents = static_cast<size_t>(forest.starts[family + 1] - forest.starts[family]) - 1;
    const Code* children = codes + static_cast<size_t>(variable[n_parents]) * n_rows + first;
    const Context* contexts[LANES];
    const float* changes[LANES];
    uint32_t lanes[LANES];
    size_t n_lanes = 0;
    for (uint32_t l = 0; l < count; ++l)
        if (children[l] != forest.cardinalities[variable[n_parents]]) {
            contexts[l] = forest.contexts + forest.roots[family];
            lanes[n_lanes++] = l;
        }
    for (size_t level = 0; n_lanes > 0; ++level) {
        for (size_t i = 0; i < n_lanes; ++i) {
            const uint32_t l = lanes[i];
            const Context& context = *contexts[l];
            const int64_t slot = position(forest.values + context.first_value, context.n_values, children[l]) + 1;
            changes[l] = forest.logs + context.first_entry + static_cast<size_t>(slot) * context.n_classes;
            PREFETCH(changes[l]);
            PREFETCH(forest.classes + context.first_class);
            if (level < n_parents) PREFETCH(forest.codes + context.first_child);
        }
        size_t n_left = 0;
        for (size_t i = 0; i < n_lanes; ++i) {
            const uint32_t l = lanes[i];
            const Context& context = *contexts[l];
            const uint32_t* label = forest.classes + context.first_class;
            double* target = out + (first + l) * n_classes;
            for (uint32_t c = 0; c < context.n_classes; ++c) target[label[c]] += weights[label[c]] * changes[l][c];
            if (level == n_parents || context.n_children == 0) continue;
            const uint32_t code = codes[static_cast<size_t>(variable[level]) * n_rows + first + l];
            const int64_t child = position(forest.codes + context.first_child, context.n_children, code);
            if (child < 0) continue;
            contexts[l] = forest.contexts + context.first_child + child;
            PREFETCH(contexts[l]);
            lanes[n_left++] = l;
        }
        n_lanes = n_left;
        for (size_t i = 0; i < n_lanes; ++i) PREFETCH(forest.values + contexts[lanes[i]]->first_value);
    }
}

// Adds the weighted log-probabilities of every family to each row, (rows, classes).
template <typename Code>
void add_tree_terms(Vector<const int64_t> roots, Matrix<const uint32_t> contexts, Vector<const uint32_t> reached,
                    Vector<const uint32_t> values, Vector<const uint32_t> seen, Vector<const float> logs,
                    Vector<const int64_t> variables, Vector<const int64_t> starts, Vector<const int64_t> cardinalities,
                    Matrix<const double> weights, Columns<const Code> codes, Matrix<double> out) {
    const Forest forest(roots, contexts, reached, values, seen, logs, variables, starts, cardinalities);
    const size_t n_rows = codes.shape(0), n_classes = out.shape(1);
    nb::gil_scoped_release release;
    for (size_t first = 0; first < n_rows; first += BLOCK) {
        const size_t end = std::min(first + BLOCK, n_rows);
        for (size_t family = 0; family < forest.n_families; ++family) {
            for (size_t row = first; row < end; row += LANES)
                add_lanes(forest, family, codes.data(), n_rows, row, std::min(LANES, end - row),
                          weights.data() + family * n_classes, out.data(), n_classes);
        }
    }
}

using Terms = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

// Log-probabilities of every family for rows that were counted, each left out of its own class, into `terms`:
// (blocks of LANES rows, families, classes, LANES).
template <typename Code>
void leave_one_out_terms(
    Vector<const int64_t> roots, Matrix<const uint32_t> contexts, Vector<const uint32_t> reached,
    Vector<const uint32_t> values, Vector<const uint32_t> seen, Vector<const float> logs,
    Vector<const int64_t> variables, Vector<const int64_t> starts, Vector<const int64_t> cardinalities,
    Vector<const double> weights, Vector<const int64_t> first_base, Vector<const double> base, double strength,
    Columns<const Code> codes, Vector<const Code> classes, Vector<const double> removed, Terms terms, size_t first_family) {
    const Forest forest(roots, contexts, reached, values, seen, logs, variables, starts, cardinalities);
    const size_t n_rows = codes.shape(0), n_terms = terms.shape(1), n_classes = terms.shape(2);
    if (terms.shape(0) * LANES < n_rows || n_terms < first_family + forest.n_families)
        throw nb::value_error("there is no room for the terms");
    nb::gil_scoped_release release;
    for (size_t family = 0; family < forest.n_families; ++family) {
            const int64_t child = variables(static_cast<size_t>(starts(family + 1)) - 1);
            const Code* column = codes.data() + static_cast<size_t>(child) * n_rows;
            for (size_t row = 0; row < n_rows; ++row) {
                float* target = terms.data() + ((row / LANES) * n_terms + first_family + family) * n_classes * LANES + row % LANES;
                const uint32_t own = classes(row);
                double probability = 0;
                bool known = false;
                forest.walk(family, codes.data(), n_rows, row, [&](const Context& context, size_t slot) {
                    const float* change = forest.logs + context.first_entry + slot * context.n_classes;
                    const uint32_t* label = forest.classes + context.first_class;
                    for (uint32_t c = 0; c < context.n_classes; ++c) target[label[c] * LANES] += change[c];
                    const int64_t c = position(label, context.n_classes, own);
                    if (c < 0) return;
                    if (!known) probability = base(static_cast<size_t>(first_base(family)) + column[row]);
                    known = true;
                    const double* weight = weights.data() + context.first_entry;
                    const double cell = slot ? weight[slot * context.n_classes + static_cast<size_t>(c)] : 0.0;
                    probability = (std::max(cell - removed(row), 0.0) + strength * probability) /
                                  (std::max(weight[c] - removed(row), 0.0) + strength);
                });
                if (known) target[own * LANES] = static_cast<float>(std::log(probability));
            }
    }
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("add_tree_terms", &add_tree_terms<Code>, nb::arg("roots"), nb::arg("contexts"), nb::arg("reached"),
               nb::arg("values"), nb::arg("seen"), nb::arg("logs"), nb::arg("variables"), nb::arg("starts"),
               nb::arg("cardinalities"), nb::arg("weights"), nb::arg("codes").noconvert(),
               nb::arg("out").noconvert());
    module.def("leave_one_out_terms", &leave_one_out_terms<Code>, nb::arg("roots"), nb::arg("contexts"),
               nb::arg("reached"), nb::arg("values"), nb::arg("seen"), nb::arg("logs"), nb::arg("variables"),
               nb::arg("starts"), nb::arg("cardinalities"), nb::arg("weights"), nb::arg("first_base"),
               nb::arg("base"), nb::arg("strength"), nb::arg("codes").noconvert(), nb::arg("classes").noconvert(),
               nb::arg("removed"),
               nb::arg("terms").noconvert(), nb::arg("first_family"));
}

}  // namespace

void bind_context_tree_terms(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
}
