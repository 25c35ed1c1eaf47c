// What every kernel file shares: array types, threads, and code compiled for several instruction sets.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

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

// Call `work(i)` for every i below `count`. Which thread takes which i never changes what `work(i)` computes, so
// results do not depend on `n_threads`. The first exception is passed on.
template <typename Work>
void parallel_for(size_t count, int n_threads, Work&& work) {
    const size_t workers = std::min<size_t>(std::max(n_threads, 1), count);
    if (workers <= 1) {
        for (size_t i = 0; i < count; ++i) work(i);
        return;
    }
    std::atomic<size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    auto loop = [&] {
        try {
            for (size_t i; (i = next.fetch_add(1)) < count;) work(i);
        } catch (...) {
            std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
            next.store(count);
        }
    };
    std::vector<std::thread> threads;
    for (size_t worker = 1; worker < workers; ++worker) threads.emplace_back(loop);
    loop();
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
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
void bind_regressions(nb::module_& module);
void bind_weighting(nb::module_& module);
