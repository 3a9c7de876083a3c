#include "staged/staged_graph.h"

#include <algorithm>

#include "base/error.h"
#include "graph/limits.h"
#include "staged/segment.h"

namespace headway {
namespace {

std::vector<int64_t> key_of(std::span<const Datum> inputs) {
    std::vector<int64_t> key;
    for (const Datum& datum : inputs) {
        key.push_back(static_cast<int64_t>(datum.index()));
        const auto* tensor = std::get_if<Tensor>(&datum);
        if (tensor == nullptr) continue;
        key.push_back(static_cast<int64_t>(tensor->type()));
        key.push_back(static_cast<int64_t>(tensor->shape().rank()));
        key.insert(key.end(), tensor->shape().begin(), tensor->shape().end());
    }
    return key;
}

}  // namespace

StagedGraph::StagedGraph(Graph graph, std::shared_ptr<Workshop> workshop)
    : graph_(std::move(graph)), workshop_(std::move(workshop)) {}

std::shared_ptr<Segment> StagedGraph::segment(std::span<const Datum> inputs) const {
    Key key = key_of(inputs);
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, key, [](const auto& entry) { return entry.first; });
    if (found != kept_.end()) {
        std::rotate(kept_.begin(), found, found + 1);
        return kept_.front().second;
    }
    auto made = std::make_shared<Segment>(graph_, inputs, workshop_);
    kept_.insert(kept_.begin(), {std::move(key), std::move(made)});
    if (static_cast<int64_t>(kept_.size()) > workshop_->settings().kept_shapes) kept_.pop_back();
    return kept_.front().second;
}

std::vector<Datum> StagedGraph::run(std::span<const Datum> inputs, int depth) const {
    if (depth > max_graph_depth)
        throw UserError("sub-graphs are nested deeper than " + std::to_string(max_graph_depth));
    if (inputs.size() != graph_.inputs.size())
        throw UserError("a graph has " + std::to_string(graph_.inputs.size()) + " inputs but " +
                        std::to_string(inputs.size()) + " were given");
    std::vector<Datum> results(graph_.outputs.size());
    // Where the outputs of the graph at hand belong.
    std::vector<size_t> places;
    for (size_t i = 0; i < results.size(); ++i) places.push_back(i);
    std::vector<Datum> given(inputs.begin(), inputs.end());
    // A rest is the next graph; its holder keeps it alive while it runs, whatever others drop.
    std::shared_ptr<const Segment> holder;
    for (const StagedGraph* graph = this; graph != nullptr;) {
        const std::shared_ptr<Segment> segment = graph->segment(given);
        Segment::Result result = segment->run(std::move(given), depth);
        if (depth == 0 && workshop_->is_recording()) segment->retire();
        std::vector<size_t> open;
        for (size_t i = 0; i < places.size(); ++i) {
            if (result.outputs[i])
                results[places[i]] = std::move(*result.outputs[i]);
            else
                open.push_back(places[i]);
        }
        places = std::move(open);
        given = std::move(result.rest_inputs);
        holder = segment;
        graph = segment->rest().get();
    }
    return results;
}

}  // namespace headway
