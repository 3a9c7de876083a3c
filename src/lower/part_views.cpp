#include "lower/part_views.h"

#include <algorithm>

namespace headway {
namespace {

using Word = std::string_view;

const Knob<Word> concat_views{{
    .name = "memory.concat_views",
    .help = "Whether the parts of a Concat are written where its result lies, when each is one piece of memory there.",
    .family = "memory",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "concat_parts",
}};

const Knob<Word> split_views{{
    .name = "memory.split_views",
    .help = "Whether the results of a Split or Slice are read where its input lies, when each is one piece of memory "
            "there.",
    .family = "memory",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "split_pieces",
}};

const Knob<int64_t> view_align{{
    .name = "memory.view_align",
    .help = "Least alignment in bytes of a tensor that lies inside another one. Vectors that cross cache lines load "
            "slower; a copy costs its bytes.",
    .family = "memory",
    .values = {1, 16, 64},
    .numerics = Numerics::reorders,
    .witness = "concat_parts",
}};

const Knob<int64_t> concat_cache{{
    .name = "memory.concat_cache",
    .help = "Largest result of a Concat whose parts are written in place, in percent of the last-level cache; 0 = any. "
            "Of larger ones the first parts have left the cache when the result is read, which a copy would have "
            "brought back faster than most readers do.",
    .family = "memory",
    .values = {50, 0, 25, 100},
    .numerics = Numerics::reorders,
    .witness = "concat_parts",
    .witness_route = "layout.assign=blocked",
    .witness_target = "isa=avx2 l3=8192",
}};

// Whether the caller or the engine holds the value's memory.
bool has_own_memory(const Graph& graph, ValueId id) {
    return graph.is_constant(id) || graph.is_output(id) || std::ranges::find(graph.inputs, id) != graph.inputs.end();
}

}  // namespace

bool joins_parts(const Problem& problem) { return problem.op == "Concat"; }
bool cuts_pieces(const Problem& problem) { return problem.op == "Split" || problem.op == "Slice"; }

bool may_nest(const Graph& graph, const LowerSite& site, const ByteMove& move, const Route& route) {
    const bool joins = joins_parts(site.problem);
    const ValueId inner = joins ? site.src[move.src] : site.dst[move.dst];
    return !has_own_memory(graph, inner) && (joins ? move.dst_at : move.src_at) % route.get(view_align) == 0;
}

PartViews part_views(const Graph& graph, const LowerSite& site, const Problem& problem, const Route& route,
                     const Target& target) {
    const bool joins = joins_parts(problem);
    if (route.get(joins ? concat_views : split_views, site.origins) == "off")
        return {{}, Verdict::no(Reason::knob, joins ? "memory.concat_views=off" : "memory.split_views=off")};
    if (has_own_memory(graph, joins ? site.dst[0] : site.src[0]))
        return {{}, Verdict::no(Reason::consumers, "the whole is a graph input, a result or a constant")};
    const int64_t percent = route.get(concat_cache);
    if (joins && percent > 0 && problem.dst[0].bytes() > target.l3_bytes / 100 * percent)
        return {{}, Verdict::no(Reason::threshold, "the whole is larger than memory.concat_cache says")};
    std::vector<ByteMove> moves = byte_moves(problem);
    const bool whole_parts = std::ranges::all_of(moves, [&](const ByteMove& move) {
        return joins ? move.src_at == 0 && move.bytes == problem.src[move.src]->bytes()
                     : move.dst_at == 0 && move.bytes == problem.dst[move.dst].bytes();
    });
    if (moves.empty() || !whole_parts) return {{}, Verdict::no(Reason::layout, "a part is not one piece of memory")};
    return {std::move(moves), Verdict::yes()};
}

}  // namespace headway
