// A value seen as strides over another: what Reshape, Transpose, Slice, Split, Expand and the like amount to when
// nothing is copied. Passes that hand strides to a kernel ask here what a value is a view of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace headway {

// `extent` elements, `step` apart.
struct StridedAxis {
    int64_t extent, step;
    bool operator==(const StridedAxis&) const = default;
};
using StridedAxes = std::vector<StridedAxis>;

// An axis of the view that does not run evenly is several axes, the outermost first; axes of extent 1 are none.
struct StridedView {
    ValueId source = no_value;
    int64_t offset = 0;
    std::vector<StridedAxes> axes;
    double scale = 1;  // product of the numbers that elements are multiplied by on the way

    static StridedView whole(const Graph& graph, ValueId value);
};

// The view that output `output` of the node is when its first input is `view`; nothing when it is none.
std::optional<StridedView> viewed_through(const Graph& graph, const Node& node, ValueId output, StridedView view);

// What the value is a view of, as far back as one goes. With `scales`, multiplications and divisions by a number count
// as views.
StridedView traced_view(const Graph& graph, ValueId value, bool scales);

// Neighbours that run on evenly become one.
StridedAxes joined_axes(const StridedAxes& axes);
// The axes cut so that they make up these extents; nothing when they do not.
std::optional<std::vector<StridedAxes>> regrouped_axes(const StridedAxes& axes, const std::vector<int64_t>& extents);

}  // namespace headway
