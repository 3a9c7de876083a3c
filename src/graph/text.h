// The text form of a graph: prints and parses back to an equal graph. Tests, witnesses and reproducers are written in
// it.
//
//     graph {
//       input %x: f32[1,3,8,8]
//       const %w: f32[16,3,3,3] = random(7)          # seeded normal values with deviation 1/sqrt(fan-in)
//       const %two: f32[] = {2}
//       const %zeros: f32[16] = fill(0)
//       %y: f32[1,16,8,8] = Conv(%x, %w, _) {pads=[1,1,1,1], group=1} @"conv1"
//       %a, %b = Split(%y) {axis=1} @"split","more"
//       %z = Group(%a, %b) { graph { ... } } @"add"
//       output %z
//     }
//
// `_` is an absent input; types after outputs are optional; names with other characters than [A-Za-z0-9_./:-] are
// quoted; `Name.domain:version(...)`: domain and version may follow the operator name as `com.microsoft/Gelu:1`.
// A node without @ gets the origin `Op#k` (k counts the nodes of that operator in their graph; inside another node the
// origin of that node and the branch's name go before it). Without `:version` the operator set is 17 (the newest in
// which Split and ReduceMean still have their classic form), 1 in other domains. A type without [...] has no known
// rank; a graph's `sequence f32` and `optional f32` have none. Attribute values: 1, 1.0, "text", [1,2], [1.0,2.0],
// ["a"], floats[], strings[], f32[2] {1,2}, string[1] {"a"}, graph {...}; the body of a Group stands without a name. A
// sub-graph may read names of the graphs around it. `# ...` is a comment.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace headway {

inline constexpr int default_opset = 17;
// The version of an operator written without one.
int default_version(std::string_view domain, std::string_view op);

std::string print_graph(const Graph& graph);
// UserError with line and column on bad text. Constants over `inline_limit` elements print as `hash(...)` and do not
// parse back; pass a larger limit to print everything.
Graph parse_graph(std::string_view text);
std::string print_graph(const Graph& graph, int64_t inline_limit);
// The same with all but the smallest tensors beside the text: they are appended to `table` (which starts empty) and
// stand in the text as `table(k)`. Exact both ways; parse_graph refuses a k outside the table and another type or
// shape.
std::string print_graph(const Graph& graph, std::vector<Tensor>& table);
Graph parse_graph(std::string_view text, std::span<const Tensor> table);

}  // namespace headway
