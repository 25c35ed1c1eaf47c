// Columns of a table as numpy holds them: numbers of any type, any distance apart.
#pragma once

#include "kernels.hpp"

#include <limits>
#include <stdexcept>
#include <type_traits>

// A block of rows of a row-major matrix stays in the second-level cache while its columns are read one after another.
constexpr size_t BLOCK = 512;

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

inline Values values_of(const AnyColumn& column) {
    const size_t bytes = column.dtype().bits / 8;
    return {static_cast<const char*>(column.data()), column.stride(0) * std::ptrdiff_t(bytes), column.shape(0),
            column.dtype()};
}

inline std::vector<AnyColumn> columns_of(const nb::sequence& columns) {
    std::vector<AnyColumn> held;
    for (nb::handle column : columns) held.push_back(nb::cast<AnyColumn>(column));
    return held;
}

inline std::vector<Values> values_of(const std::vector<AnyColumn>& columns) {
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
