// Every optimiser that a knob switches off is alive: there is a graph of which it makes something else. The graphs are
// in witnesses.txt.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "graph/text.h"
#include "onnxruntime/fixture.h"

namespace headway {
namespace {

struct Witness {
    std::string setting, route, graph;
};

std::vector<Witness> read_witnesses() {
    std::vector<Witness> witnesses;
    for (const std::string& line : split(read_file(HEADWAY_WITNESSES), '\n')) {
        if (line.starts_with("#") || line.empty()) continue;
        if (line.starts_with("graph {") || line.starts_with(" ") || line.starts_with("}")) {
            witnesses.back().graph += line + "\n";
            continue;
        }
        constexpr std::string_view under = " under ";
        const size_t at = line.find(under);
        witnesses.push_back({line.substr(0, at), at == line.npos ? "" : line.substr(at + under.size()), ""});
    }
    return witnesses;
}

class Optimizers : public testing::OnnxRuntimeTest {
protected:
    // The witness' model, with 4 for every open extent.
    void open(const Graph& graph) {
        OpenRequest open = request(graph);
        for (const ValueId id : graph.inputs) {
            const Value& input = graph.value(id);
            std::vector<int64_t> dims;
            for (const Dim& dim : *input.dims) dims.push_back(dim.known() ? dim.extent : 4);
            open.shapes.push_back({input.name, dims});
        }
        builder_ = make();
        builder_->open(open);
    }
};

TEST_F(Optimizers, AreAlive) {
    for (const Witness& witness : read_witnesses()) {
        open(parse_graph(witness.graph));
        EXPECT_NE(fingerprint(witness.route), fingerprint(witness.route + "," + witness.setting)) << witness.setting;
    }
}

TEST_F(Optimizers, WithoutWitnessSaySo) {
    std::set<std::string> witnessed;
    for (const Witness& witness : read_witnesses())
        witnessed.insert(witness.setting.substr(0, witness.setting.find('=')));
    open(testing::witness_graph("conv_chain"));
    for (const KnobDescription& knob : builder_->describe().knobs) {
        if (!knob.name.starts_with("optimizer.")) continue;
        EXPECT_NE(witnessed.contains(knob.name), knob.help.ends_with("(No model is known that it changes.)"))
            << knob.name;
    }
}

}  // namespace
}  // namespace headway
