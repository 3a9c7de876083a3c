// A graph whose shapes are known only when it runs: for each set of input shapes that it meets it is divided into
// segments (staged/segment.h), and the latest divisions are kept.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "staged/workshop.h"
#include "tensor/datum.h"

namespace headway {

class Segment;

// Several threads may run one staged graph.
class StagedGraph {
public:
    // Closed: it captures nothing.
    StagedGraph(Graph graph, std::shared_ptr<Workshop> workshop);

    // Inputs and outputs in the graph's order. `depth` counts the sub-graphs around this one.
    std::vector<Datum> run(std::span<const Datum> inputs, int depth) const;

private:
    using Key = std::vector<int64_t>;  // kinds, types and shapes of the inputs

    std::shared_ptr<Segment> segment(std::span<const Datum> inputs) const;

    const Graph graph_;
    const std::shared_ptr<Workshop> workshop_;
    mutable std::mutex mutex_;
    mutable std::vector<std::pair<Key, std::shared_ptr<Segment>>> kept_;  // latest first
};

}  // namespace headway
