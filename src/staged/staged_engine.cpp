#include "staged/staged_engine.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "base/call_work.h"
#include "base/error.h"
#include "base/text.h"
#include "compile/resolve.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "lower/settings.h"

namespace headway {
namespace {

constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();

StagedPort port_of(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    return {value.name, value.kind, value.type, value.dims, std::nullopt};
}

void check_input(const StagedInput& input, StagedPort& port) {
    const auto fail = [&](const std::string& what) {
        throw UserError("staged: input '" + escaped(port.name) + "' " + what);
    };
    const size_t rank = port.dims ? port.dims->size() : 0;
    if (input.is_ranked != port.dims.has_value() || input.low.size() != rank || input.high.size() != rank)
        fail("has limits of another rank");
    for (size_t axis = 0; axis < rank; ++axis)
        if (input.low[axis] < 0 || input.high[axis] < input.low[axis]) fail("has limits that no extent meets");
    if (input.fixed_value.empty()) return;
    if (!port.dims || !std::ranges::all_of(*port.dims, [](const Dim& dim) { return dim.known(); }))
        fail("has a fixed value but no fixed shape");
    Tensor value(port.type, Shape(input.low));
    if (value.size_bytes() != input.fixed_value.size()) fail("has a fixed value of another size");
    std::ranges::copy(input.fixed_value, value.mutable_bytes().begin());
    port.fixed_value = std::move(value);
}

StagedInput limits_of(const Graph& graph, ValueId id, const Bindings& bindings) {
    const Value& value = graph.value(id);
    StagedInput input;
    input.is_ranked = value.dims.has_value();
    const auto range = bindings.ranges.find(value.name);
    for (size_t axis = 0; value.dims && axis < value.dims->size(); ++axis) {
        const Dim& dim = (*value.dims)[axis];
        const bool is_ranged = !dim.known() && range != bindings.ranges.end();
        input.low.push_back(dim.known() ? dim.extent : is_ranged ? range->second[axis].low : 0);
        input.high.push_back(dim.known() ? dim.extent : is_ranged ? range->second[axis].high : no_limit);
    }
    if (const auto fixed = bindings.values.find(value.name); fixed != bindings.values.end())
        input.fixed_value.assign(fixed->second.bytes().begin(), fixed->second.bytes().end());
    return input;
}

// Type and shape of a tensor of numbers or of strings; nothing for other data.
std::optional<TensorDesc> desc_of(const Datum& datum) {
    if (const auto* tensor = std::get_if<Tensor>(&datum)) return TensorDesc{tensor->type(), tensor->shape()};
    if (const auto* strings = std::get_if<Strings>(&datum)) return TensorDesc{ElementType::string, strings->shape};
    return std::nullopt;
}

std::string limits_text(const StagedInput& input) {
    std::string text;
    for (size_t axis = 0; axis < input.low.size(); ++axis) {
        if (axis > 0) text += "x";
        if (input.low[axis] == input.high[axis])
            text += std::to_string(input.low[axis]);
        else if (input.high[axis] == no_limit)
            text += input.low[axis] == 0 ? "?" : std::to_string(input.low[axis]) + "..";
        else
            text += std::to_string(input.low[axis]) + ".." + std::to_string(input.high[axis]);
    }
    return input.low.empty() ? "scalar" : text;
}

}  // namespace

Graph staged_graph(const EngineFile& file) {
    std::vector<Tensor> table;
    for (const Constant& constant : file.plan.constants) table.push_back(constant.bytes);
    Graph graph = parse_graph(file.staged->graph, table);
    try {
        verify_graph(graph, headway::Stage::imported);
    } catch (const InternalError& error) {
        throw UserError(error.what());  // the file's fault, not ours
    }
    return graph;
}

std::shared_ptr<const StagedEngine> StagedEngine::make(EngineFile file, const Catalogue& catalogue) {
    if (!file.staged) throw UserError("the engine is not one of open shapes");
    Graph graph = staged_graph(file);
    const std::shared_ptr<StagedEngine> engine(new StagedEngine);
    engine->limits_ = file.staged->inputs;
    if (engine->limits_.size() != graph.inputs.size())
        throw UserError("staged: " + std::to_string(engine->limits_.size()) + " inputs where the graph has " +
                        std::to_string(graph.inputs.size()));
    for (ValueId id : graph.inputs) engine->inputs_.push_back(port_of(graph, id));
    for (ValueId id : graph.outputs) engine->outputs_.push_back(port_of(graph, id));
    for (size_t i = 0; i < graph.inputs.size(); ++i) check_input(engine->limits_[i], engine->inputs_[i]);
    if (file.staged->kept_shapes < 1) throw UserError("staged: no shape is kept");
    engine->fingerprint_ = file.fingerprint();
    const Target target = Target::parse(file.info.target);
    engine->workshop_ = std::make_shared<Workshop>(catalogue, Route::parse(file.info.route, catalogue.knobs), target,
                                                   StagedSettings{file.staged->kept_shapes, file.staged->compile_from});
    engine->graph_ = std::make_unique<StagedGraph>(std::move(graph), engine->workshop_);
    engine->info_ = std::move(file.info);
    return engine;
}

std::shared_ptr<const StagedEngine> StagedEngine::load(const std::string& path, const Catalogue& catalogue) {
    EngineFile file = read_engine_file(path);
    try {
        return make(std::move(file), catalogue);
    } catch (const UserError& error) {
        throw UserError(path + ": " + error.what());
    }
}

void StagedEngine::check(std::span<const Datum> inputs) const {
    if (inputs.size() != inputs_.size())
        throw UserError("the engine has " + std::to_string(inputs_.size()) + " inputs, given were " +
                        std::to_string(inputs.size()));
    std::map<std::string, int64_t> symbols;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const StagedPort& port = inputs_[i];
        const std::optional<TensorDesc> given = desc_of(inputs[i]);
        if (!given) {
            if (port.kind == DeclaredKind::tensor)
                throw UserError("input " + escaped(port.name) + " is " + std::string(kind_of(inputs[i])) +
                                " instead of a tensor");
            continue;
        }
        const auto fail = [&](const std::string& what) {
            throw UserError("input " + escaped(port.name) + " is " + std::string(to_string(given->type)) + " " +
                            given->shape.text() + ", the engine takes " + what);
        };
        if (port.type != ElementType::undefined && given->type != port.type) fail(std::string(to_string(port.type)));
        if (!port.dims) continue;
        if (given->shape.rank() != port.dims->size()) fail(limits_text(limits_[i]));
        for (size_t axis = 0; axis < port.dims->size(); ++axis) {
            const int64_t extent = given->shape[axis];
            if (extent < limits_[i].low[axis] || extent > limits_[i].high[axis]) fail(limits_text(limits_[i]));
            const std::string& symbol = (*port.dims)[axis].symbol;
            if (symbol.empty() || symbol == "?") continue;
            const int64_t known = symbols.emplace(symbol, extent).first->second;
            if (known != extent)
                fail("\"" + escaped(symbol) + "\" = " + std::to_string(known) + " as in another input");
        }
        if (port.fixed_value && !std::ranges::equal(port.fixed_value->bytes(), std::get<Tensor>(inputs[i]).bytes()))
            throw UserError("input " + escaped(port.name) +
                            " was fixed when the engine was built and now has another value");
    }
}

std::vector<Datum> StagedEngine::run(std::span<const Datum> inputs) const {
    const CallWork call;
    check(inputs);
    return graph_->run(inputs, 0);
}

EngineFile build_staged(const Graph& model, const Bindings& bindings, const Route& route, const Target& target,
                        const Catalogue& catalogue, EngineInfo info, std::span<const Datum> sample) {
    Graph graph = bind_inputs(model, bindings);
    resolve(graph, catalogue.ops);
    graph.compact();
    route.check_sites(site_names(graph));

    EngineFile file;
    file.info = std::move(info);
    file.info.route = route.text();
    file.info.target = target.text();
    file.plan.settings = settings_of(route, target);
    std::vector<Tensor> table;
    StagedPart& part = file.staged.emplace();
    part.graph = print_graph(graph, table);
    for (const Tensor& tensor : table)
        file.plan.constants.push_back({{tensor.type(), tensor.shape(), Layout::plain}, tensor, tensor.hash()});
    for (ValueId id : graph.inputs) part.inputs.push_back(limits_of(graph, id, bindings));
    const StagedSettings settings = staged_settings_of(route);
    part.kept_shapes = settings.kept_shapes;
    part.compile_from = settings.compile_from;

    Workshop::Record record;
    if (!sample.empty() || graph.inputs.empty()) {
        const std::shared_ptr<const StagedEngine> engine = StagedEngine::make(file, catalogue);
        engine->workshop_->record(&record);
        static_cast<void>(engine->run(sample));
    }
    Hasher parts;
    parts.add(file.info.route);
    for (const Hash& fingerprint : record.fingerprints) parts.add(fingerprint);
    part.parts = parts.finish();
    file.info.ledger = ledger_json(record.ledger);
    return file;
}

}  // namespace headway
