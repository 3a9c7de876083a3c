// Concat, Split and Slice that move no bytes: the parts are written where the result will be, the pieces are read where
// the source is.
#pragma once

#include <vector>

#include "base/verdict.h"
#include "graph/graph.h"
#include "kernels/cpu/move/byte_moves.h"
#include "knobs/route.h"
#include "lower/site.h"

namespace headway {

struct PartViews {
    // One for each part of a Concat, each piece of a Split or Slice; the whole of it is moved.
    std::vector<ByteMove> moves;
    Verdict verdict;  // when not, every byte is moved
};

bool joins_parts(const Problem& problem);  // Concat: parts lie in the dst
bool cuts_pieces(const Problem& problem);  // Split and Slice: pieces lie in the src

// Of a site that joins or cuts, with the layouts of `problem`. Memory that is the caller's or the engine's own (graph
// inputs, results and constants) neither holds nor becomes a part.
PartViews part_views(const Graph& graph, const LowerSite& site, const Problem& problem, const Route& route,
                     const Target& target);
// Whether the part or piece of a move may lie in the whole, as far as the graph tells.
bool may_nest(const Graph& graph, const LowerSite& site, const ByteMove& move, const Route& route);

}  // namespace headway
