// An engine whose shapes are known only when it runs: inputs with open extents, or results whose shapes depend on
// values (NonZero, Loop, sequences). It holds the graph. For the shapes of a call the graph is divided into segments
// (staged/segment.h): parts with known shapes are compiled along the engine's route, once per set of shapes; nodes that
// must see values run by their references. The same inputs give the same bits, whatever was run in between.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine_file.h"
#include "staged/staged_graph.h"

namespace headway {

struct StagedPort {
    std::string name;
    DeclaredKind kind = DeclaredKind::tensor;
    ElementType type = ElementType::undefined;
    std::optional<std::vector<Dim>> dims;  // nothing: any rank
    std::optional<Tensor> fixed_value;
};

// The graph that the file of a staged engine holds. UserError when it is broken.
Graph staged_graph(const EngineFile& file);

class StagedEngine {
public:
    // `catalogue` outlives the engine. UserError when the file holds no staged engine or a broken one.
    static std::shared_ptr<const StagedEngine> make(EngineFile file, const Catalogue& catalogue);
    static std::shared_ptr<const StagedEngine> load(const std::string& path, const Catalogue& catalogue);

    const std::vector<StagedPort>& inputs() const { return inputs_; }
    const std::vector<StagedPort>& outputs() const { return outputs_; }
    const EngineInfo& info() const { return info_; }
    Hash fingerprint() const { return fingerprint_; }

    // Several threads may call it. UserError naming the input whose type or shape the engine does not take.
    std::vector<Datum> run(std::span<const Datum> inputs) const;

private:
    StagedEngine() = default;
    void check(std::span<const Datum> inputs) const;
    friend EngineFile build_staged(const Graph& model, const Bindings& bindings, const Route& route,
                                   const Target& target, const Catalogue& catalogue, EngineInfo info,
                                   std::span<const Datum> sample);

    EngineInfo info_;
    Hash fingerprint_;
    std::vector<StagedPort> inputs_, outputs_;
    std::vector<StagedInput> limits_;
    std::shared_ptr<Workshop> workshop_;
    std::unique_ptr<StagedGraph> graph_;
};

// A staged engine for what `bindings` leave open. `sample` (empty: none) is run once: what is compiled for it tells the
// ledger and the fingerprint; Unsupported when it cannot be run. Route, target and ledger of `info` are filled in.
EngineFile build_staged(const Graph& model, const Bindings& bindings, const Route& route, const Target& target,
                        const Catalogue& catalogue, EngineInfo info, std::span<const Datum> sample);

}  // namespace headway
