// What every kernel file shares: array types, and code compiled for several instruction sets.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interrupts.hpp"

namespace nb = nanobind;

// A function marked so is compiled for several instruction sets and chosen when the library is loaded.
#if defined(__x86_64__) && defined(__linux__) && (defined(__GNUC__) && !defined(__clang__))
#define MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MULTIVERSION
#endif

template <typename T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Rows of codes are stored column by column: a kernel reads a few columns of many rows.
template <typename T>
using Columns = nb::ndarray<T, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// A new numpy array that owns `values`.
template <typename T>
nb::ndarray<nb::numpy, T> as_numpy(std::vector<T>&& values, std::initializer_list<size_t> shape) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return nb::ndarray<nb::numpy, T>(held->data(), shape, owner);
}

void bind_encoding(nb::module_& module);
void bind_summaries(nb::module_& module);
void bind_discretization(nb::module_& module);
void bind_embedding(nb::module_& module);
void bind_embedding_training(nb::module_& module);
void bind_counting(nb::module_& module);
void bind_tables(nb::module_& module);
void bind_information(nb::module_& module);
void bind_scoring(nb::module_& module);
void bind_parent_sets(nb::module_& module);
void bind_parent_set_scoring(nb::module_& module);
void bind_context_trees(nb::module_& module);
void bind_context_tree_terms(nb::module_& module);
void bind_regressions(nb::module_& module);
void bind_weighting(nb::module_& module);
void bind_offsets(nb::module_& module);
void bind_losses(nb::module_& module);
