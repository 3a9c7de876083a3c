#include "lower/emit.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "lower/cost.h"
#include "lower/part_views.h"
#include "lower/views.h"

namespace headway {
namespace {

const Knob<int64_t> min_task_us{{
    .name = "threads.min_task_us",
    .help = "Least predicted work, in microseconds, that a thread must get before a step is split over threads.",
    .family = "thread",
    .values = {5, 0, 1, 2, 10, 30, 100},
    .witness = "conv_chain",
}};

const Knob<std::string_view> memory_outputs{{
    .name = "memory.outputs",
    .help = "direct: the step that makes an output writes the caller's memory. copied: it writes the arena, and a copy "
            "ends the run: for outputs that later steps read again, where the caller's memory is slower (fresh pages, "
            "small pages, another node).",
    .family = "memory",
    .values = {"direct", "copied"},
    .witness = "conv_chain",
}};

const Knob<int64_t> step_cap{{
    .name = "threads.step_cap",
    .help = "Most threads that a step may use; 0 = all of the engine's. Steps bound by memory can be as fast on fewer.",
    .family = "thread",
    .values = {0, 1, 2, 4, 8},
    .scope = Scope::site,
    .witness = "conv_chain",
    .witness_route = "threads.min_task_us=0",
}};

// Threads that a step of so much predicted work may use; 0 = all of the engine's.
int most_threads(double us, const std::vector<std::string>& origins, const Route& route, const Target& target) {
    const auto least = static_cast<double>(route.get(min_task_us));
    const int64_t cap = route.get(step_cap, origins);
    double most = cap > 0 ? static_cast<double>(std::min<int64_t>(cap, target.threads)) : target.threads;
    if (least > 0) most = std::min(most, us / least);
    return most >= target.threads ? 0 : std::max(1, static_cast<int>(most));
}

class Emitter {
public:
    Emitter(const Graph& graph, const Route& route, const Target& target, const Registry<Kernel>& kernels)
        : graph_(graph), route_(route), target_(target), kernels_(kernels) {}

    Emitted run(std::vector<Chosen>& sites) {
        for (size_t k = 0; k < graph_.inputs.size(); ++k) add_input(static_cast<int64_t>(k));
        for (Chosen& chosen : sites) {
            if (chosen.pick < 0)
                add_view(chosen);
            else if (!add_nested(chosen))
                add_step(chosen);
        }
        for (size_t k = 0; k < graph_.outputs.size(); ++k) add_output(static_cast<int64_t>(k));
        return {std::move(plan_), std::move(nesting_)};
    }

private:
    int32_t add_buffer(const std::string& name, TensorDesc desc, Place place, int64_t index) {
        Buffer buffer;
        buffer.name = name;
        buffer.desc = std::move(desc);
        buffer.place = place;
        buffer.index = index;
        plan_.buffers.push_back(std::move(buffer));
        return static_cast<int32_t>(plan_.buffers.size() - 1);
    }

    TensorDesc plain(ValueId id) const { return {graph_.value(id).type, graph_.value(id).shape(), Layout::plain}; }

    void add_input(int64_t k) {
        const ValueId id = graph_.inputs[static_cast<size_t>(k)];
        const int32_t buffer = add_buffer(graph_.value(id).name, plain(id), Place::input, k);
        plan_.inputs.push_back({graph_.value(id).name, plain(id), buffer, {}});
        homes_[id][Layout::plain] = buffer;
    }

    int32_t add_constant(const Tensor& bytes, const TensorDesc& desc) {
        const Hash hash = bytes.hash();
        const auto [at, fresh] = constants_.emplace(hash, static_cast<int32_t>(plan_.constants.size()));
        if (fresh) plan_.constants.push_back({desc, bytes, hash});
        return at->second;
    }

    // The value's memory in a layout, reordering what there is when needed.
    int32_t buffer_in(ValueId id, Layout layout, const std::vector<std::string>& origins) {
        auto& homes = homes_[id];
        const Shape shape = graph_.value(id).shape();
        for (const auto& [have, buffer] : homes)
            if (same_bytes(shape, have, layout)) return buffer;
        if (homes.empty()) {
            const Tensor* constant = graph_.constant(id);
            HEADWAY_CHECK(constant != nullptr);
            const int32_t index = add_constant(*constant, plain(id));
            homes[Layout::plain] = add_buffer(graph_.value(id).name, plain(id), Place::constant, index);
            return buffer_in(id, layout, origins);
        }
        // Any home will do; plain is what every reorder kernel knows best.
        const auto from = homes.contains(Layout::plain) ? homes.find(Layout::plain) : homes.begin();
        TensorDesc src = plain(id), dst = plain(id);
        src.layout = from->first;
        dst.layout = layout;
        const int32_t to = add_buffer(graph_.value(id).name, dst, Place::arena, -1);
        add_copy("Reorder", src, dst, from->second, to, origins);
        homes[layout] = to;
        return to;
    }

    void add_copy(const std::string& op, const TensorDesc& src, const TensorDesc& dst, int32_t from, int32_t to,
                  const std::vector<std::string>& origins) {
        LowerSite site;
        site.origins = origins;
        site.problem.op = op;
        site.problem.version = 1;
        site.problem.src = {src};
        site.problem.constant = {false};
        site.problem.dst = {dst};
        const Form form = cheapest_form(site.problem, origins, route_, target_, kernels_);
        Step step = step_of(form, origins);
        step.src = {from};
        step.dst = {to};
        plan_.steps.push_back(std::move(step));
    }

    Step step_of(const Form& form, const std::vector<std::string>& origins) const {
        Step step;
        step.kernel = std::string(form.kernel->name());
        step.problem = form.problem;
        step.choices = form.choices;
        step.origins = origins;
        step.max_threads = most_threads(form.us, origins, route_, target_);
        return step;
    }

    void add_view(const Chosen& chosen) {
        const Node& node = graph_.node(chosen.site.view_of);
        homes_[node.outputs[0]][chosen.view_dst] = buffer_in(node.inputs[0], chosen.view_src, chosen.site.origins);
    }

    // Places the parts of a Concat in its result, or the pieces of a Split or Slice in their source; what cannot lie
    // there is copied alone. False when a step has to move all.
    bool add_nested(Chosen& chosen) {
        const LowerSite& site = chosen.site;
        const Form& form = chosen.forms[static_cast<size_t>(chosen.pick)];
        if (!joins_parts(form.problem) && !cuts_pieces(form.problem)) return false;
        PartViews views = part_views(graph_, site, form.problem, route_, target_);
        if (views.verdict)
            views.verdict = joins_parts(form.problem) ? join(site, form, views.moves) : cut(site, form, views.moves);
        chosen.nests = static_cast<bool>(views.verdict);
        if (!chosen.nests) chosen.refusals.push_back({"lower", site.origins.front(), "view", false, views.verdict, 0});
        return chosen.nests;
    }

    // Whether copying these moves alone is cheaper than the step that moves all.
    Verdict worth(const Form& form, const std::vector<ByteMove>& moves, const std::vector<bool>& nests) const {
        double us = 0;
        for (size_t k = 0; k < moves.size(); ++k)
            if (!nests[k]) us += copy_us(static_cast<double>(moves[k].bytes), target_, route_);
        if (us < form.us) return Verdict::yes();
        return Verdict::no(Reason::consumers, "no part may lie in the whole, or too little of it");
    }

    Verdict join(const LowerSite& site, const Form& form, const std::vector<ByteMove>& moves) {
        std::vector<int32_t> parts;
        std::vector<bool> nests;
        for (const ByteMove& move : moves) {
            const int32_t part = buffer_in(site.src[move.src], form.problem.src[move.src]->layout, site.origins);
            nests.push_back(may_nest(graph_, site, move, route_) && !nesting_.is_inside(part) &&
                            std::ranges::find(parts, part) == parts.end() &&
                            plan_.buffers[static_cast<size_t>(part)].place == Place::arena);
            parts.push_back(part);
        }
        if (Verdict verdict = worth(form, moves, nests); !verdict) return verdict;
        const int32_t whole = add_result(site, form.problem, 0);
        for (size_t k = 0; k < moves.size(); ++k) {
            const TensorDesc& desc = *form.problem.src[moves[k].src];
            const int32_t part =
                nests[k] ? parts[k] : add_buffer(graph_.value(site.src[moves[k].src]).name, desc, Place::arena, -1);
            nesting_.put(part, whole, moves[k].dst_at);
            if (!nests[k]) add_copy("Identity", desc, desc, parts[k], part, site.origins);
        }
        return Verdict::yes();
    }

    Verdict cut(const LowerSite& site, const Form& form, const std::vector<ByteMove>& moves) {
        const int32_t whole = buffer_in(site.src[0], form.problem.src[0]->layout, site.origins);
        if (plan_.buffers[static_cast<size_t>(whole)].place != Place::arena)
            return Verdict::no(Reason::consumers, "the whole is a view of a graph input or a constant");
        std::vector<bool> nests;
        for (const ByteMove& move : moves) nests.push_back(may_nest(graph_, site, move, route_));
        if (Verdict verdict = worth(form, moves, nests); !verdict) return verdict;
        std::vector<int32_t> results;
        for (size_t k = 0; k < site.dst.size(); ++k) results.push_back(add_result(site, form.problem, k));
        for (size_t k = 0; k < moves.size(); ++k) {
            const TensorDesc& desc = form.problem.dst[moves[k].dst];
            const int32_t result = results[moves[k].dst];
            const int32_t piece =
                nests[k] ? result : add_buffer(graph_.value(site.dst[moves[k].dst]).name, desc, Place::arena, -1);
            nesting_.put(piece, whole, moves[k].src_at);
            if (!nests[k]) add_copy("Identity", desc, desc, piece, result, site.origins);
        }
        return Verdict::yes();
    }

    int32_t add_result(const LowerSite& site, const Problem& problem, size_t k) {
        if (site.dst[k] == no_value) return -1;
        const int32_t buffer = add_buffer(graph_.value(site.dst[k]).name, problem.dst[k], Place::arena, -1);
        homes_[site.dst[k]][problem.dst[k].layout] = buffer;
        return buffer;
    }

    void add_step(const Chosen& chosen) {
        const LowerSite& site = chosen.site;
        const Form& form = chosen.forms[static_cast<size_t>(chosen.pick)];
        Step step = step_of(form, site.origins);
        std::vector<const Tensor*> known(site.src.size(), nullptr);
        const bool packs = static_cast<bool>(form.kernel->fields().pack);
        for (size_t k = 0; k < site.src.size(); ++k) {
            step.src.push_back(-1);
            if (site.src[k] == no_value) continue;
            if (form.problem.constant[k]) known[k] = graph_.constant(site.src[k]);
            if (!form.problem.constant[k] || !packs)
                step.src.back() = buffer_in(site.src[k], form.problem.src[k]->layout, site.origins);
        }
        for (size_t k = 0; k < site.operands.size(); ++k)
            step.operands.push_back(buffer_in(site.operands[k], form.problem.operands[k].layout, site.origins));
        if (packs)
            for (const Tensor& blob : form.kernel->fields().pack(form.problem, target_, form.choices, known))
                step.packed.push_back(add_constant(blob, {blob.type(), blob.shape(), Layout::plain}));
        for (size_t k = 0; k < site.dst.size(); ++k) step.dst.push_back(add_result(site, form.problem, k));
        plan_.steps.push_back(std::move(step));
    }

    void add_output(int64_t k) {
        const ValueId id = graph_.outputs[static_cast<size_t>(k)];
        const std::vector<std::string> origins{graph_.value(id).name};
        const int32_t made = buffer_in(id, Layout::plain, origins);
        Buffer& buffer = plan_.buffers[static_cast<size_t>(made)];
        int32_t out = made;
        // A buffer that one step writes becomes the caller's memory itself; anything else is copied there.
        if (buffer.place == Place::arena && buffer.desc.bytes() == plain(id).bytes() && !nesting_.shares(made) &&
            route_.get(memory_outputs) == "direct") {
            buffer.place = Place::output;
            buffer.index = k;
        } else {
            out = add_buffer(graph_.value(id).name, plain(id), Place::output, k);
            add_copy("Identity", plain(id), plain(id), made, out, origins);
        }
        plan_.outputs.push_back({graph_.value(id).name, plain(id), out, {}});
    }

    const Graph& graph_;
    const Route& route_;
    const Target& target_;
    const Registry<Kernel>& kernels_;
    Plan plan_;
    Nesting nesting_;
    std::map<ValueId, std::map<Layout, int32_t>> homes_;
    std::map<Hash, int32_t> constants_;
};

}  // namespace

Emitted emit_plan(const Graph& graph, std::vector<Chosen>& sites, const Route& route, const Target& target,
                  const Registry<Kernel>& kernels) {
    return Emitter(graph, route, target, kernels).run(sites);
}

}  // namespace headway
