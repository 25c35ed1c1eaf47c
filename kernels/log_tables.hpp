// log(count + added), looked up where counts repeat.
#pragma once

#include "kernels.hpp"

#include <cmath>
#include <type_traits>

template <typename Weight>
MULTIVERSION void look_up(const double* logs, const Weight* counts, size_t n, double* out) {
    for (size_t i = 0; i < n; ++i) out[i] = logs[static_cast<size_t>(counts[i])];
}

// log(count + added): looked up for whole counts where they are small or there are many, computed for the rest.
struct LogTable {
    double added;
    std::vector<double> logs;
    bool whole = false;

    template <typename Weight>
    void operator()(const Weight* counts, size_t n, double* out) const {
        if (std::is_integral_v<Weight> && whole) return look_up(logs.data(), counts, n, out);
        for (size_t i = 0; i < n; ++i) {
            const bool known = std::is_integral_v<Weight> && static_cast<double>(counts[i]) < logs.size();
            out[i] = known ? logs[static_cast<size_t>(counts[i])] : std::log(static_cast<double>(counts[i]) + added);
        }
    }
};

// One table for each distinct number that is added, so long that filling them costs no more than the lookups save.
struct LogTables {
    std::vector<LogTable> tables;
    std::vector<size_t> of;

    LogTables(const Vector<const double>& added, double total, double n_lookups) {
        for (size_t i = 0; i < added.shape(0); ++i) {
            size_t t = 0;
            while (t < tables.size() && tables[t].added != added(i)) ++t;
            if (t == tables.size()) tables.push_back({added(i), {}});
            of.push_back(t);
        }
        const double longest = std::min({total, n_lookups / (4.0 * static_cast<double>(tables.size())), 1048575.0});
        for (auto& table : tables) {
            for (double count = 0; count <= longest; ++count) table.logs.push_back(std::log(count + table.added));
            table.whole = longest >= total;
        }
    }
};
