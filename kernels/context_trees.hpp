// Trees of contexts: what growing them and walking down them share.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

// One context: where its children, its values, its classes and its entries stand, and how many there are.
struct Context {
    uint32_t first_child, n_children, first_value, n_values, first_class, n_classes, first_entry, parent;
};
constexpr size_t FIELDS = sizeof(Context) / sizeof(uint32_t);

// The position of `wanted` among ascending numbers; -1 if it is not there.
INLINE int64_t position(const uint32_t* numbers, uint32_t count, uint32_t wanted) {
    if (wanted < count && numbers[wanted] == wanted) return wanted;  // all lower numbers are there
    if (count <= 8) {
        for (uint32_t i = 0; i < count; ++i)
            if (numbers[i] == wanted) return i;
        return -1;
    }
    const uint32_t* found = std::lower_bound(numbers, numbers + count, wanted);
    return found != numbers + count && *found == wanted ? found - numbers : -1;
}

// The trees as they come back from Python, and the families they are of.
struct Forest {
    const int64_t* roots;
    const Context* contexts;
    const uint32_t* codes;
    const uint32_t* values;
    const uint32_t* classes;
    const float* logs;
    const int64_t* variables;
    const int64_t* starts;
    const int64_t* cardinalities;
    size_t n_families;

    Forest(Vector<const int64_t> roots_, Matrix<const uint32_t> contexts_, Vector<const uint32_t> codes_,
           Vector<const uint32_t> values_, Vector<const uint32_t> classes_, Vector<const float> logs_,
           Vector<const int64_t> variables_, Vector<const int64_t> starts_, Vector<const int64_t> cardinalities_)
        : roots(roots_.data()), contexts(reinterpret_cast<const Context*>(contexts_.data())), codes(codes_.data()),
          values(values_.data()), classes(classes_.data()), logs(logs_.data()), variables(variables_.data()),
          starts(starts_.data()), cardinalities(cardinalities_.data()), n_families(starts_.shape(0) - 1) {}

    // Calls `visit(context, slot)` for every context that the row falls into; slot 0 is a value not seen there.
    template <typename Code, typename Visit>
    INLINE void walk(size_t family, const Code* codes_of_rows, size_t n_rows, size_t row, Visit&& visit) const {
        const int64_t* variable = variables + starts[family];
        const size_t n_parents = static_cast<size_t>(starts[family + 1] - starts[family]) - 1;
        const uint32_t value = codes_of_rows[static_cast<size_t>(variable[n_parents]) * n_rows + row];
        if (value == cardinalities[variable[n_parents]]) return;
        const Context* context = contexts + roots[family];
        for (size_t level = 0;; ++level) {
            visit(*context, static_cast<size_t>(position(values + context->first_value, context->n_values, value) + 1));
            if (level == n_parents || context->n_children == 0) return;
            const uint32_t code = codes_of_rows[static_cast<size_t>(variable[level]) * n_rows + row];
            const int64_t child = position(codes + context->first_child, context->n_children, code);
            if (child < 0) return;
            context = contexts + context->first_child + child;
        }
    }
};
