// Back-off estimates of families, each as a tree of contexts: the root is the class alone, and every further parent
// splits the contexts before it. Contexts that hold little weight are not split.
//
//     P_0(x | y) = (N(x, y) + s P(x)) / (N(y) + s)
//     P_j(x | pa_1..j, y) = (N(x, pa_1..j, y) + s P_{j-1}) / (N(pa_1..j, y) + s)
//
// A context stores log P_0, or log P_j - log P_{j-1}, for the classes and the values of the child that occur in it,
// and for a value that does not. A row's log P is the sum over the contexts that it falls into, one a level.
#include "context_trees.hpp"

#include <cmath>
#include <numeric>

namespace {

struct Trees {
    std::vector<int64_t> roots;      // (families + 1,)
    std::vector<Context> contexts;   // breadth first, family after family
    std::vector<uint32_t> codes;     // (contexts,) the code of the last parent
    std::vector<uint32_t> values;    // codes of the child that occur in a context, ascending
    std::vector<uint32_t> classes;   // classes that occur in a context, ascending
    std::vector<double> weights;     // (entries,) N(pa, y), then N(x, pa, y) for each value
    std::vector<float> logs;         // (entries,) the change of log P: of a value not seen here, then of each value
    std::vector<double> base;        // P(x) of each family's values, end to end
    std::vector<int64_t> first_base; // (families + 1,)
};

template <typename Code>
class Grower {
  public:
    Grower(const Code* codes, const Code* classes, const double* weights, size_t n_rows, size_t n_classes,
           double strength, double least_weight, Trees& trees)
        : codes_(codes), classes_(classes), weights_(weights), n_rows_(n_rows), strength_(strength),
          least_weight_(least_weight), trees_(trees), class_weight_(n_classes), class_position_(n_classes) {}

    // The tree of one family: `variables` are its parents, then its child.
    void grow(const int64_t* variables, size_t n_variables, const int64_t* cardinalities) {
        const int64_t child = variables[n_variables - 1];
        cardinality_ = static_cast<size_t>(cardinalities[child]);
        child_ = column(child);
        value_weight_.assign(cardinality_, 0.0);
        value_position_.assign(cardinality_, 0);
        rows_.clear();
        for (size_t r = 0; r < n_rows_; ++r)
            if (child_[r] != cardinality_) rows_.push_back(static_cast<uint32_t>(r));
        add_base();
        probabilities_.clear();
        first_context_ = trees_.contexts.size();
        first_entry_ = trees_.weights.size();
        trees_.roots.push_back(static_cast<int64_t>(first_context_));
        ranges_.assign(1, {0, rows_.size()});
        trees_.codes.push_back(0);
        trees_.contexts.push_back({});
        levels_.assign(1, 0);
        for (size_t at = 0; at < ranges_.size(); ++at) {
            const double weight = count(at);
            const size_t level = levels_[at];
            trees_.contexts[first_context_ + at].first_child = static_cast<uint32_t>(trees_.contexts.size());
            if (level + 1 < n_variables && (level == 0 || weight >= least_weight_))
                split(at, column(variables[level]), static_cast<size_t>(cardinalities[variables[level]]));
        }
    }

  private:
    const Code* column(int64_t feature) const { return codes_ + static_cast<size_t>(feature) * n_rows_; }

    void add_base() {
        trees_.first_base.push_back(static_cast<int64_t>(trees_.base.size()));
        double total = 0;
        for (uint32_t row : rows_) value_weight_[child_[row]] += weights_[row], total += weights_[row];
        const double uniform = 1.0 / static_cast<double>(cardinality_);
        for (double& weight : value_weight_) {
            trees_.base.push_back((weight + strength_ * uniform) / (total + strength_));
            weight = 0;
        }
        unseen_ = strength_ * uniform / (total + strength_);
    }

    // Counts the rows of a context: its classes, its values and its entries. Returns their weight.
    double count(size_t at) {
        const auto [begin, end] = ranges_[at];
        Context context = trees_.contexts[first_context_ + at];
        double total = 0;
        seen_classes_.clear();
        seen_values_.clear();
        for (size_t i = begin; i < end; ++i) {
            const uint32_t row = rows_[i];
            const double weight = weights_[row];
            if (class_weight_[classes_[row]] == 0) seen_classes_.push_back(classes_[row]);
            if (value_weight_[child_[row]] == 0) seen_values_.push_back(child_[row]);
            class_weight_[classes_[row]] += weight;
            value_weight_[child_[row]] += weight;
            total += weight;
        }
        std::sort(seen_classes_.begin(), seen_classes_.end());
        std::sort(seen_values_.begin(), seen_values_.end());
        const size_t width = seen_classes_.size(), n_entries = (seen_values_.size() + 1) * width;
        context.first_class = static_cast<uint32_t>(trees_.classes.size());
        context.n_classes = static_cast<uint32_t>(width);
        context.first_value = static_cast<uint32_t>(trees_.values.size());
        context.n_values = static_cast<uint32_t>(seen_values_.size());
        context.first_entry = static_cast<uint32_t>(trees_.weights.size());
        trees_.classes.insert(trees_.classes.end(), seen_classes_.begin(), seen_classes_.end());
        trees_.values.insert(trees_.values.end(), seen_values_.begin(), seen_values_.end());
        trees_.weights.resize(trees_.weights.size() + n_entries);
        trees_.logs.resize(trees_.weights.size());
        if (trees_.weights.size() > UINT32_MAX) throw std::length_error("too many cells for one forest of contexts");
        double* weights = trees_.weights.data() + context.first_entry;
        for (size_t c = 0; c < width; ++c) {
            weights[c] = class_weight_[seen_classes_[c]];
            class_position_[seen_classes_[c]] = c;
            class_weight_[seen_classes_[c]] = 0;
        }
        for (size_t v = 0; v < seen_values_.size(); ++v) {
            value_position_[seen_values_[v]] = v + 1;
            value_weight_[seen_values_[v]] = 0;
        }
        for (size_t i = begin; i < end; ++i) {
            const uint32_t row = rows_[i];
            weights[value_position_[child_[row]] * width + class_position_[classes_[row]]] += weights_[row];
        }
        estimate(context, at == 0);
        trees_.contexts[first_context_ + at] = context;
        return total;
    }

    // From the weights of a context to its probabilities and to what they change.
    void estimate(const Context& context, bool is_root) {
        const size_t width = context.n_classes;
        const double* weights = trees_.weights.data() + context.first_entry;
        float* logs = trees_.logs.data() + context.first_entry;
        probabilities_.resize(trees_.weights.size() - first_entry_);
        double* probabilities = probabilities_.data() + (context.first_entry - first_entry_);
        const double* base = trees_.base.data() + trees_.first_base.back();
        const Context& before = trees_.contexts[context.parent];
        for (size_t c = 0; c < width; ++c) {
            const double total = weights[c] + strength_;
            const uint32_t label = trees_.classes[context.first_class + c];
            const int64_t its = is_root ? 0 : position(&trees_.classes[before.first_class], before.n_classes, label);
            logs[c] = static_cast<float>(std::log(strength_ / total));
            if (is_root) logs[c] += static_cast<float>(std::log(unseen_));
            for (size_t v = 0; v < context.n_values; ++v) {
                const uint32_t value = trees_.values[context.first_value + v];
                double shrunk = base[value];
                if (!is_root) {
                    const int64_t slot = position(&trees_.values[before.first_value], before.n_values, value) + 1;
                    shrunk = probabilities_[before.first_entry - first_entry_ +
                                            static_cast<size_t>(slot) * before.n_classes + static_cast<size_t>(its)];
                }
                const size_t entry = (v + 1) * width + c;
                probabilities[entry] = (weights[entry] + strength_ * shrunk) / total;
                logs[entry] = static_cast<float>(std::log(is_root ? probabilities[entry] : probabilities[entry] / shrunk));
            }
        }
    }

    // Sorts the rows of a context by their next parent and makes a context of each of its codes.
    void split(size_t at, const Code* parent, size_t cardinality) {
        const auto [begin, end] = ranges_[at];
        counts_.assign(cardinality + 2, 0);
        for (size_t i = begin; i < end; ++i) ++counts_[parent[rows_[i]] + 1];
        for (size_t code = 0; code <= cardinality; ++code) counts_[code + 1] += counts_[code];
        sorted_.resize(end - begin);
        starts_ = counts_;
        for (size_t i = begin; i < end; ++i) sorted_[starts_[parent[rows_[i]]]++] = rows_[i];
        std::copy(sorted_.begin(), sorted_.end(), rows_.begin() + static_cast<std::ptrdiff_t>(begin));
        uint32_t n_children = 0;
        for (size_t code = 0; code < cardinality; ++code) {
            if (counts_[code] == counts_[code + 1]) continue;
            ranges_.push_back({begin + counts_[code], begin + counts_[code + 1]});
            levels_.push_back(levels_[at] + 1);
            trees_.codes.push_back(static_cast<uint32_t>(code));
            trees_.contexts.push_back({});
            trees_.contexts.back().parent = static_cast<uint32_t>(first_context_ + at);
            ++n_children;
        }
        trees_.contexts[first_context_ + at].n_children = n_children;
    }

    struct Range {
        size_t begin, end;
    };

    const Code* codes_;
    const Code* classes_;
    const double* weights_;
    size_t n_rows_;
    double strength_, least_weight_, unseen_ = 0;
    Trees& trees_;
    const Code* child_ = nullptr;
    size_t cardinality_ = 0, first_context_ = 0, first_entry_ = 0;
    std::vector<uint32_t> rows_, sorted_, seen_classes_, seen_values_;
    std::vector<Range> ranges_;
    std::vector<size_t> levels_, counts_, starts_, class_position_, value_position_;
    std::vector<double> class_weight_, value_weight_, probabilities_;
};

template <typename Code>
nb::tuple grow_trees(Columns<const Code> codes, Vector<const Code> classes, Vector<const double> weights,
                     Vector<const int64_t> variables, Vector<const int64_t> starts,
                     Vector<const int64_t> cardinalities, size_t n_classes, double strength, double least_weight) {
    Trees trees;
    {
        nb::gil_scoped_release release;
        Grower<Code> grower(codes.data(), classes.data(), weights.data(), codes.shape(0), n_classes, strength,
                            least_weight, trees);
        for (size_t f = 0; f + 1 < starts.shape(0); ++f)
            grower.grow(variables.data() + starts(f), static_cast<size_t>(starts(f + 1) - starts(f)),
                        cardinalities.data());
        trees.roots.push_back(static_cast<int64_t>(trees.contexts.size()));
        trees.first_base.push_back(static_cast<int64_t>(trees.base.size()));
    }
    std::vector<uint32_t> contexts(trees.contexts.size() * FIELDS);
    std::copy_n(reinterpret_cast<const uint32_t*>(trees.contexts.data()), contexts.size(), contexts.data());
    const size_t n_contexts = trees.contexts.size(), n_values = trees.values.size(), n_seen = trees.classes.size();
    const size_t n_entries = trees.logs.size(), n_base = trees.base.size(), n_families = trees.first_base.size();
    return nb::make_tuple(as_numpy(std::move(trees.roots), {n_families}),
                          as_numpy(std::move(contexts), {n_contexts, FIELDS}),
                          as_numpy(std::move(trees.codes), {n_contexts}),
                          as_numpy(std::move(trees.values), {n_values}),
                          as_numpy(std::move(trees.classes), {n_seen}), as_numpy(std::move(trees.logs), {n_entries}),
                          as_numpy(std::move(trees.weights), {n_entries}),
                          as_numpy(std::move(trees.first_base), {n_families}),
                          as_numpy(std::move(trees.base), {n_base}));
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def("grow_trees", &grow_trees<Code>, nb::arg("codes").noconvert(), nb::arg("classes").noconvert(),
               nb::arg("weights").noconvert(), nb::arg("variables"), nb::arg("starts"), nb::arg("cardinalities"),
               nb::arg("n_classes"), nb::arg("strength"), nb::arg("least_weight"));
}

}  // namespace

void bind_context_trees(nb::module_& module) {
    bind_codes<uint8_t>(module);
    bind_codes<uint16_t>(module);
    bind_codes<uint32_t>(module);
}
