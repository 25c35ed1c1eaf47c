// Counts of every set of features of one size: how the sets are numbered, and how a packed block of them is read.
#pragma once

#include "kernels.hpp"

using Key = uint64_t;

// Every ascending set of `size` features out of `n_features`, one after another.
inline std::vector<int32_t> subsets(int64_t n_features, int64_t size) {
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

// A packed block of counts, as Python holds it.
template <typename Weight>
struct BlockView {
    const int64_t *dense_starts, *sparse_starts;
    const Weight *dense, *sparse;
    const uint32_t* keys;

    // Writes the weights of the classes in a cell to `out`, which holds zeros; `cell` is numbered without the class.
    void copy_classes(int64_t set, Key cell, size_t n_classes, Weight* out) const {
        if (dense_starts[set + 1] > dense_starts[set]) {
            std::copy_n(dense + dense_starts[set] + cell * n_classes, n_classes, out);
            return;
        }
        const uint32_t *first = keys + sparse_starts[set], *last = keys + sparse_starts[set + 1];
        const Key begin = cell * n_classes, end = begin + n_classes;
        for (const uint32_t* at = std::lower_bound(first, last, begin); at != last && *at < end; ++at) {
            out[*at - begin] = sparse[at - keys];
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
