// Builds and runs small text graphs, for tests that walk the registries.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/file.h"
#include "compile/compile.h"
#include "graph/text.h"
#include "runtime/engine.h"
#include "tensor/random.h"

namespace headway::testing {

inline const Catalogue& catalogue() {
    static const Catalogue everything;
    return everything;
}

// tests/graphs/NAME.txt.
inline Graph witness_graph(std::string_view name) {
    return parse_graph(read_file(std::string(HEADWAY_TEST_GRAPHS) + "/" + std::string(name) + ".txt"));
}

// Extents that are open are 5.
inline std::vector<Tensor> random_inputs(const Graph& graph) {
    std::vector<Tensor> inputs;
    for (ValueId id : graph.inputs) {
        std::vector<int64_t> dims;
        for (const Dim& dim : graph.value(id).dims.value()) dims.push_back(dim.known() ? dim.extent : 5);
        inputs.push_back(random_tensor(graph.value(id).type, Shape(dims), inputs.size() + 1));
    }
    return inputs;
}

inline std::vector<Tensor> run_engine(const Plan& plan, const Target& target, const std::vector<Tensor>& inputs) {
    EngineInfo info;
    info.target = target.text();
    return Context(Engine::make(plan, info, catalogue().kernels)).run(inputs);
}

// Largest |got - want| / (1 + |want|) over all outputs; infinite when NaN or infinite values do not match.
inline double worst_difference(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
    double worst = 0;
    for (size_t k = 0; k < want.size(); ++k)
        for (int64_t i = 0; i < want[k].elements(); ++i) {
            const double a = got[k].at(i), b = want[k].at(i);
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            const double difference = std::abs(a - b) / (1 + std::abs(b));
            worst = std::max(worst, std::isfinite(difference) ? difference : HUGE_VAL);
        }
    return worst;
}

inline bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    for (size_t k = 0; k < a.size(); ++k)
        if (a[k].hash() != b[k].hash()) return false;
    return a.size() == b.size();
}

}  // namespace headway::testing
