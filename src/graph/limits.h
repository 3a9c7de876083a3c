// Limits on what a file or a text may ask for, shared by every reader of graphs.
#pragma once

#include <cstdint>

namespace headway {

// Graphs inside graphs (branches, bodies). Real models stay under 4; readers and walkers may recurse this deep.
inline constexpr int max_graph_depth = 32;

}  // namespace headway
