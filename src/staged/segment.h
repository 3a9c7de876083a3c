// One stage of a graph for one set of input shapes: what can be compiled with them as one piece, the nodes that must
// see values to tell the shapes of their results, and the rest, which waits for those shapes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "staged/piece.h"
#include "staged/staged_graph.h"
#include "tensor/datum.h"

namespace headway {

class Segment {
public:
    // The stage that `graph` begins with when its inputs are of the kinds, types and shapes of `inputs`.
    Segment(const Graph& graph, std::span<const Datum> inputs, const std::shared_ptr<Workshop>& workshop);

    // What is known of the graph's outputs after this stage; the others come from the rest.
    struct Result {
        std::vector<std::optional<Datum>> outputs;
        std::vector<Datum> rest_inputs;
    };
    Result run(std::vector<Datum> inputs, int depth) const;
    // Gives up the compiled piece with its packed weights; the segment runs no more.
    void retire() { piece_.reset(); }

    // nullptr when the graph ends here. Its outputs are, in order, the ones that Result leaves open.
    const std::shared_ptr<StagedGraph>& rest() const { return rest_; }

private:
    struct Body {
        const Graph* original;  // as the node names it
        std::shared_ptr<StagedGraph> graph;
        std::vector<ValueId> captured;
    };
    struct ReferenceStep {
        NodeId node;
        std::vector<Body> bodies;
    };
    using Values = std::vector<std::optional<Datum>>;

    void compile(const std::vector<NodeId>& nodes, const std::vector<ValueId>& outputs);
    void add_reference_step(NodeId id, const std::string& why);
    const Datum& get(const Values& values, ValueId id) const;
    void run_piece(Values& values) const;
    void run_step(const ReferenceStep& step, Values& values, int depth) const;

    std::shared_ptr<Workshop> workshop_;
    Graph graph_;
    std::unordered_map<std::string, ValueId> names_;
    std::vector<Datum> constants_;  // by value id; absent where the value is none
    std::unique_ptr<Piece> piece_;
    std::vector<ValueId> piece_inputs_, piece_outputs_;
    std::vector<ReferenceStep> steps_;
    std::shared_ptr<StagedGraph> rest_;
    std::vector<ValueId> rest_inputs_;
    std::vector<bool> known_outputs_;  // by graph output
};

}  // namespace headway
