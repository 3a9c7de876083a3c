#include "shrink.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "passes/rewrite.h"

namespace headway::testing {
namespace {

class Shrinker {
public:
    Shrinker(Trial trial, const std::function<bool(const Trial&)>& fails, const Catalogue& catalogue, int budget)
        : best_(std::move(trial)), fails_(fails), catalogue_(catalogue), budget_(budget) {}

    Trial run() {
        unfold_branches();
        for (bool smaller = true; smaller && budget_ > 0;) {
            smaller = lessen_route();
            if (has_subgraphs()) {
                smaller = drop_outputs() || smaller;
                continue;
            }
            smaller = cut_below() || smaller;
            smaller = drop_outputs() || smaller;
            smaller = cut_above() || smaller;
            smaller = bypass() || smaller;
            smaller = lessen_extents() || smaller;
        }
        return best_;
    }

private:
    bool has_subgraphs() const {
        const Graph& graph = best_.problem.graph;
        for (NodeId id = 0; id < graph.node_count(); ++id)
            if (!graph.node(id).subgraphs.empty()) return true;
        return false;
    }

    // Site settings must still name a site, so those that do not go with their nodes.
    void drop_stale_sites(Trial& trial) const {
        const std::vector<std::string> sites = site_names(trial.problem.graph);
        std::string text;
        for (const Route::Setting& setting : Route::parse(trial.way.route, catalogue_.knobs).settings()) {
            if (!setting.site.empty() && std::ranges::count(sites, setting.site) == 0) continue;
            text += (text.empty() ? "" : ",") + setting.knob + (setting.site.empty() ? "" : "@" + setting.site) + "=" +
                    setting.value;
        }
        trial.way.route = text;
    }

    bool accept(Trial trial) {
        if (--budget_ < 0) return false;
        if (!fails_(trial)) return false;
        best_ = std::move(trial);
        return true;
    }

    // A changed graph: what nothing reads any more goes, and the smaller graph must be sound.
    bool accept_graph(Graph graph) {
        Trial trial = best_;
        try {
            if (!has_subgraphs()) {
                erase_dead_nodes(graph);
                std::erase_if(graph.inputs, [&](ValueId id) {
                    return !graph.is_output(id) && graph.consumers()[static_cast<size_t>(id)].empty();
                });
                graph.compact();
            }
            verify_graph(graph, Stage::imported);
            trial.problem.graph = std::move(graph);
            drop_stale_sites(trial);
        } catch (const std::exception&) {
            return false;
        }
        return accept(std::move(trial));
    }

    void unfold_branches() {
        if (has_subgraphs()) accept_graph(bind(best_.problem.graph, {}, catalogue_.ops));
    }

    bool lessen_route() {
        bool smaller = false;
        for (const char* target : {"native", "avx2", "baseline"}) {
            Trial trial = best_;
            Target wanted = Target::parse(target);
            wanted.threads = 1;
            trial.way.target = wanted.text();
            if (trial.way.target == best_.way.target) break;
            if (accept(std::move(trial))) break;
        }
        for (size_t k = split(best_.way.route, ',').size(); k-- > 0;) {
            std::vector<std::string> settings = split(best_.way.route, ',');
            if (best_.way.route.empty() || k >= settings.size()) continue;
            settings.erase(settings.begin() + static_cast<std::ptrdiff_t>(k));
            Trial trial = best_;
            trial.way.route = join(settings, ",");
            smaller = accept(std::move(trial)) || smaller;
        }
        return smaller;
    }

    bool drop_outputs() {
        bool smaller = false;
        for (size_t k = best_.problem.graph.outputs.size(); k-- > 0;) {
            if (best_.problem.graph.outputs.size() < 2 || k >= best_.problem.graph.outputs.size()) continue;
            Graph graph = best_.problem.graph;
            graph.outputs.erase(graph.outputs.begin() + static_cast<std::ptrdiff_t>(k));
            smaller = accept_graph(std::move(graph)) || smaller;
        }
        return smaller;
    }

    // The inputs of the last nodes become the outputs.
    bool cut_below() {
        bool smaller = false;
        for (NodeId id = best_.problem.graph.node_count(); id-- > 0;) {
            if (id >= best_.problem.graph.node_count()) continue;
            Graph graph = best_.problem.graph;
            const std::vector<ValueId> outputs = graph.node(id).outputs, inputs = graph.node(id).inputs;
            const auto readers = graph.consumers();
            if (std::ranges::any_of(outputs, [&](ValueId out) {
                    return out != no_value && !readers[static_cast<size_t>(out)].empty();
                }))
                continue;
            std::erase_if(graph.outputs, [&](ValueId out) { return std::ranges::count(outputs, out) > 0; });
            for (ValueId in : inputs)
                if (in != no_value && graph.value(in).producer != no_node && !graph.is_output(in))
                    graph.outputs.push_back(in);
            graph.erase_node(id);
            if (!graph.outputs.empty()) smaller = accept_graph(std::move(graph)) || smaller;
        }
        return smaller;
    }

    // What a node computed is given from outside.
    bool cut_above() {
        bool smaller = false;
        for (NodeId id = best_.problem.graph.node_count(); id-- > 0;) {
            if (id >= best_.problem.graph.node_count()) continue;
            Graph graph = best_.problem.graph;
            const std::vector<ValueId> outputs = graph.node(id).outputs;
            graph.erase_node(id);
            for (ValueId out : outputs)
                if (out != no_value) graph.inputs.push_back(out);
            std::erase_if(graph.outputs, [&](ValueId out) { return std::ranges::count(outputs, out) > 0; });
            if (!graph.outputs.empty()) smaller = accept_graph(std::move(graph)) || smaller;
        }
        return smaller;
    }

    bool bypass() {
        bool smaller = false;
        for (NodeId id = best_.problem.graph.node_count(); id-- > 0;) {
            if (id >= best_.problem.graph.node_count()) continue;
            Graph graph = best_.problem.graph;
            const Node node = graph.node(id);
            for (ValueId in : node.inputs) {
                const ValueId out = node.outputs[0];
                if (in == no_value || out == no_value || graph.is_output(out) ||
                    graph.value(in).type != graph.value(out).type || graph.value(in).dims != graph.value(out).dims)
                    continue;
                graph.replace_uses(out, in);
                smaller = accept_graph(std::move(graph)) || smaller;
                break;
            }
        }
        return smaller;
    }

    bool lessen_extents() {
        bool smaller = false;
        std::set<int64_t> extents;
        const Graph& graph = best_.problem.graph;
        for (ValueId id = 0; id < graph.value_count(); ++id)
            if (is_source(graph, id))
                for (int64_t extent : graph.value(id).shape()) extents.insert(extent);
        for (int64_t extent : extents)
            for (int64_t less : {int64_t{1}, extent / 2, extent - 1})
                if (less > 0 && less < extent && accept_graph(with_extent(extent, less, no_value))) {
                    smaller = true;
                    break;
                }
        for (ValueId id = 0; id < best_.problem.graph.value_count(); ++id) {
            if (!is_source(best_.problem.graph, id)) continue;
            for (int64_t extent : best_.problem.graph.value(id).shape())
                if (extent > 1) {
                    smaller = accept_graph(with_extent(extent, extent / 2, id)) || smaller;
                    break;
                }
        }
        return smaller;
    }

    static bool is_source(const Graph& graph, ValueId id) {
        const Value& value = graph.value(id);
        return value.producer == no_node && value.has_static_shape() && (is_float(value.type) || !value.constant);
    }

    // All axes of that extent of inputs and float constants (of one, when it is given) lessened, shapes inferred anew.
    Graph with_extent(int64_t extent, int64_t less, ValueId only) const {
        Graph graph = best_.problem.graph;
        for (ValueId id = 0; id < graph.value_count(); ++id) {
            if (graph.value(id).producer != no_node) graph.value(id).dims.reset();
            if (!is_source(graph, id) || (only != no_value && only != id)) continue;
            Shape shape = graph.value(id).shape();
            const Shape old = shape;
            for (size_t axis = 0; axis < shape.rank(); ++axis)
                if (shape[axis] == extent) shape[axis] = less;
            if (graph.is_constant(id)) graph.value(id).constant = corner(*graph.constant(id), shape);
            graph.value(id).set_shape(shape);
        }
        try {
            for (NodeId id : graph.topological_order()) infer_node(graph, id, catalogue_.ops);
        } catch (const std::exception&) {
            graph.outputs.clear();
        }
        return graph;
    }

    static Tensor corner(const Tensor& whole, const Shape& shape) {
        Tensor part(whole.type(), shape);
        const std::vector<int64_t> from = whole.shape().strides(), to = shape.strides();
        for (int64_t i = 0; i < part.elements(); ++i) {
            int64_t at = 0, rest = i;
            for (size_t axis = 0; axis < shape.rank(); ++axis) {
                at += rest / to[axis] * from[axis];
                rest %= to[axis];
            }
            part.set(i, whole.at(at));
        }
        return part;
    }

    Trial best_;
    const std::function<bool(const Trial&)>& fails_;
    const Catalogue& catalogue_;
    int budget_;
};

}  // namespace

Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& fails, const Catalogue& catalogue, int budget) {
    return Shrinker(std::move(trial), fails, catalogue, budget).run();
}

}  // namespace headway::testing
