#include "lower/layout_assign.h"

#include <algorithm>
#include <limits>

#include "lower/cost.h"
#include "lower/part_views.h"
#include "lower/views.h"

namespace headway {
namespace {

using Word = std::string_view;

const Knob<Word> layout_assign{{
    .name = "layout.assign",
    .help = "Memory layout of image-like tensors. `auto` weighs kernels and reorders by predicted time; the others "
            "take that "
            "layout wherever a kernel supports it.",
    .family = "layout",
    .values = {"auto", "nhwc", "plain", "blocked"},
    .numerics = Numerics::reorders,
    .scope = Scope::site,
    .witness = "pool_layouts",
}};

const Knob<Word> layout_block{{
    .name = "layout.block",
    .help = "Channels of one block in channel-blocked layouts.",
    .family = "layout",
    .values = {"any", "8", "16"},
    .numerics = Numerics::reorders,
    .witness = "pool_layouts",
    .witness_route = "layout.assign=blocked",
}};

const Knob<int64_t> reorder_price{{
    .name = "layout.reorder_price",
    .help = "Weight of reorders against kernels when layouts are assigned, in percent.",
    .family = "layout",
    .values = {100, 0, 25, 400, 1600},
    .numerics = Numerics::reorders,
    .witness = "layout_mix",
}};

const Knob<int64_t> layout_sweeps{{
    .name = "layout.sweeps",
    .help =
        "How often the assignment is repeated with what consumers wanted the last time, from the inputs on and again "
        "from each layout; the cheapest counts. 1 = only once, greedy from the inputs on.",
    .family = "layout",
    .values = {3, 1, 2},
    .numerics = Numerics::reorders,
    .witness = "layout_mix",
}};

const Knob<Word> memory_views{{
    .name = "memory.views",
    .help = "Whether Reshape, Transpose and the like hand on their input's memory where the bytes are the same. "
            "Without, the layouts of their neighbours may be others.",
    .family = "memory",
    .values = {"on", "off"},
    .numerics = Numerics::reorders,
    .witness = "reshape_chain",
}};

using LayoutSets = std::map<ValueId, std::set<Layout>>;

class Assignment {
public:
    Assignment(const Graph& graph, const Route& route, const Target& target)
        : graph_(graph), route_(route), target_(target), price_(static_cast<double>(route.get(reorder_price)) / 100) {
        for (ValueId output : graph.outputs) wants_[output].insert(Layout::plain);
    }

    // What each form of a site costs when its tensors lie inside each other where they may.
    void price_views(Chosen& chosen) const {
        if (!joins_parts(chosen.site.problem) && !cuts_pieces(chosen.site.problem)) return;
        for (Form& form : chosen.forms) {
            const PartViews views = part_views(graph_, chosen.site, form.problem, route_, target_);
            if (!views.verdict) continue;
            double us = 0;
            for (const ByteMove& move : views.moves)
                if (!may_nest(graph_, chosen.site, move, route_))
                    us += copy_us(static_cast<double>(move.bytes), target_, route_);
            form.nested_us = std::min(form.us, us);
        }
    }

    // Begins anew, as if every value that can have it were wanted in `layout`.
    void start(const std::vector<Chosen>& sites, Layout layout) {
        wants_.clear();
        for (const Chosen& chosen : sites)
            for (const Form& form : chosen.forms)
                for (size_t k = 0; k < chosen.site.dst.size(); ++k)
                    if (chosen.site.dst[k] != no_value && form.problem.dst[k].layout == layout)
                        wants_[chosen.site.dst[k]] = {layout};
        for (ValueId output : graph_.outputs) wants_[output].insert(Layout::plain);
    }

    // Predicted time of the kernels and reorders that the last sweep chose.
    double chosen_us() {
        double us = chosen_us_;
        for (ValueId output : graph_.outputs) us += reorder_us(output, Layout::plain);
        return us;
    }

    void sweep(std::vector<Chosen>& sites) {
        available_.clear();
        chosen_us_ = 0;
        next_wants_.clear();
        for (ValueId output : graph_.outputs) next_wants_[output].insert(Layout::plain);
        for (Chosen& chosen : sites)
            if (!take_view(chosen)) take_form(chosen);
        wants_ = std::move(next_wants_);
    }

private:
    const std::set<Layout>& layouts_of(ValueId id) {
        auto [at, fresh] = available_.try_emplace(id);
        if (fresh) at->second.insert(Layout::plain);  // inputs and constants
        return at->second;
    }

    bool has(ValueId id, Layout layout) {
        return std::ranges::any_of(layouts_of(id), [&](Layout have) { return same_bytes(shape(id), have, layout); });
    }

    Shape shape(ValueId id) const { return graph_.value(id).shape(); }

    double reorder_us(ValueId id, Layout layout) {
        if (graph_.is_constant(id) || has(id, layout)) return 0;
        return price_ * copy_us(static_cast<double>(TensorDesc{graph_.value(id).type, shape(id), layout}.bytes()),
                                target_, route_);
    }

    double unwanted_us(ValueId id, Layout layout) const {
        const auto wanted = wants_.find(id);
        if (wanted == wants_.end() || wanted->second.empty()) return 0;
        if (std::ranges::any_of(wanted->second, [&](Layout want) { return same_bytes(shape(id), want, layout); }))
            return 0;
        return price_ * copy_us(static_cast<double>(TensorDesc{graph_.value(id).type, shape(id), layout}.bytes()),
                                target_, route_);
    }

    bool take_view(Chosen& chosen) {
        chosen.pick = -1;
        if (chosen.site.view_of == no_node || route_.get(memory_views) == "off") return false;
        const Node& node = graph_.node(chosen.site.view_of);
        const ValueId src = node.inputs[0], dst = node.outputs[0];
        for (Layout want : {Layout::plain, Layout::nhwc}) {
            if (want == Layout::nhwc && shape(src).rank() < 3) continue;
            const auto result = view_layout(node, shape(src), want, shape(dst));
            const auto wanted = wants_.find(dst);
            if (result && wanted != wants_.end() && wanted->second.contains(*result)) next_wants_[src].insert(want);
        }
        for (Layout have : std::set<Layout>(layouts_of(src))) {
            if (const auto result = view_layout(node, shape(src), have, shape(dst))) {
                chosen.view_src = have;
                chosen.view_dst = *result;
                available_[dst] = {*result};
                return true;
            }
        }
        return false;
    }

    // Of a form and the reorders before it.
    double form_us(const Chosen& chosen, const Form& form) {
        double us = form.nested_us.value_or(form.us);
        for (size_t k = 0; k < chosen.site.src.size(); ++k)
            if (form.problem.src[k] && !form.problem.constant[k])
                us += reorder_us(chosen.site.src[k], form.problem.src[k]->layout);
        for (size_t k = 0; k < chosen.site.operands.size(); ++k)
            us += reorder_us(chosen.site.operands[k], form.problem.operands[k].layout);
        return us;
    }

    double total_us(const Chosen& chosen, const Form& form) {
        double us = form_us(chosen, form);
        for (size_t k = 0; k < chosen.site.dst.size(); ++k)
            if (chosen.site.dst[k] != no_value) us += unwanted_us(chosen.site.dst[k], form.problem.dst[k].layout);
        return us;
    }

    // Whether a form obeys the site's layout policy.
    bool obeys(const Chosen& chosen, const Form& form) const {
        const Layout layout = form.problem.dst.front().layout;
        const Word policy = route_.get(layout_assign, chosen.site.origins);
        const Word block = route_.get(layout_block);
        if (channel_block(layout) != 1 && block != "any" && std::to_string(channel_block(layout)) != block)
            return false;
        if (policy == "nhwc") return layout == Layout::nhwc;
        if (policy == "plain") return layout == Layout::plain;
        if (policy == "blocked") return channel_block(layout) != 1;
        return true;
    }

    void take_form(Chosen& chosen) {
        const bool any_obeys = std::ranges::any_of(chosen.forms, [&](const Form& form) { return obeys(chosen, form); });
        double best = std::numeric_limits<double>::infinity();
        for (size_t k = 0; k < chosen.forms.size(); ++k) {
            if (any_obeys && !obeys(chosen, chosen.forms[k])) continue;
            const double us = total_us(chosen, chosen.forms[k]);
            if (us < best) {
                best = us;
                chosen.pick = static_cast<int>(k);
            }
        }
        HEADWAY_CHECK(chosen.pick >= 0);
        chosen_us_ += form_us(chosen, chosen.forms[static_cast<size_t>(chosen.pick)]);
        const Problem& problem = chosen.forms[static_cast<size_t>(chosen.pick)].problem;
        const auto need = [&](ValueId id, Layout layout) {
            next_wants_[id].insert(layout);
            if (!has(id, layout)) available_[id].insert(layout);
        };
        for (size_t k = 0; k < chosen.site.src.size(); ++k)
            if (problem.src[k] && !problem.constant[k]) need(chosen.site.src[k], problem.src[k]->layout);
        for (size_t k = 0; k < chosen.site.operands.size(); ++k)
            need(chosen.site.operands[k], problem.operands[k].layout);
        for (size_t k = 0; k < chosen.site.dst.size(); ++k)
            if (chosen.site.dst[k] != no_value) available_[chosen.site.dst[k]] = {problem.dst[k].layout};
    }

    const Graph& graph_;
    const Route& route_;
    const Target& target_;
    double price_;
    double chosen_us_ = 0;
    LayoutSets available_, wants_, next_wants_;
};

}  // namespace

void assign_layouts(const Graph& graph, std::vector<Chosen>& sites, const Route& route, const Target& target) {
    Assignment assignment(graph, route, target);
    for (Chosen& chosen : sites) assignment.price_views(chosen);
    struct Pick {
        int form;
        Layout view_src, view_dst;
    };
    std::vector<Pick> best;
    double best_us = std::numeric_limits<double>::infinity();
    const int64_t sweeps = route.get(layout_sweeps);
    // A walk changes one site at a time and leaves no run of sites where each alone would pay two reorders: so it
    // begins from the inputs on, and again from every other layout.
    for (Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw16c, Layout::nchw8c}) {
        if (layout != Layout::plain) {
            if (sweeps == 1) break;
            assignment.start(sites, layout);
        }
        for (int64_t sweep = 0; sweep < sweeps; ++sweep) assignment.sweep(sites);
        const double us = assignment.chosen_us();
        if (us >= best_us) continue;
        best_us = us;
        best.clear();
        for (const Chosen& chosen : sites) best.push_back({chosen.pick, chosen.view_src, chosen.view_dst});
    }
    for (size_t k = 0; k < sites.size(); ++k) {
        sites[k].pick = best[k].form;
        sites[k].view_src = best[k].view_src;
        sites[k].view_dst = best[k].view_dst;
    }
}

}  // namespace headway
