// What subnormal numbers cost: every witness graph (tests/graphs, so every family of kernels) is timed with numbers of
// order one and with subnormal ones, in turn, with format.flush_to_zero on and off. On must cost nothing.
// usage: bench_subnormals GRAPHS_FOLDER [MOST_RATIO]      exit code 1 when a graph is above MOST_RATIO (default 1.2)
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "compile/compile.h"
#include "graph/text.h"
#include "runtime/engine.h"
#include "tensor/random.h"

namespace headway {
namespace {

// subnormal: what is read already is. vanishing: products of inputs and weights are.
struct Scale {
    const char* name;
    float inputs, weights;
};
constexpr Scale usual{"usual", 1, 1}, subnormal{"subnormal", 1e-39F, 1}, vanishing{"vanishing", 1e-20F, 1e-20F};

Tensor scaled(const Tensor& tensor, float factor) {
    if (tensor.type() != ElementType::f32) return tensor;
    Tensor result(tensor.type(), tensor.shape());
    std::ranges::transform(tensor.data<float>(), result.mutable_data<float>().begin(),
                           [factor](float x) { return x * factor; });
    return result;
}

bool is_fixed(const Graph& graph) {
    return std::ranges::all_of(graph.inputs, [&](ValueId id) { return graph.value(id).has_static_shape(); });
}

// An engine of one thread with its inputs.
class Subject {
public:
    Subject(Graph graph, const Scale& scale, bool flush, const Catalogue& catalogue) {
        for (ValueId id = 0; id < graph.value_count(); ++id)
            if (auto& constant = graph.value(id).constant; constant && constant->elements() > 1)
                constant = scaled(*constant, scale.weights);
        for (ValueId id : graph.inputs)
            inputs_.push_back(
                scaled(random_tensor(graph.value(id).type, graph.value(id).shape(), inputs_.size() + 1), scale.inputs));
        Target target = Target::native();
        target.threads = 1;
        const Route route = Route::parse(flush ? "" : "format.flush_to_zero=off", catalogue.knobs);
        EngineInfo info;
        info.target = target.text();
        context_.emplace(Engine::make(build(graph, {}, route, target, catalogue).plan, info, catalogue.kernels));
        for (const Tensor& input : inputs_) in_.push_back(input.bytes().data());
        for (const Port& port : context_->engine().plan().outputs) {
            outputs_.emplace_back(port.desc.type, port.desc.shape);
            out_.push_back(outputs_.back().mutable_bytes().data());
        }
    }

    double ns_of(int runs) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < runs; ++i) context_->run(in_, out_);
        return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / runs;
    }

private:
    std::vector<Tensor> inputs_, outputs_;
    std::vector<const std::byte*> in_;
    std::vector<std::byte*> out_;
    std::optional<Context> context_;
};

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

// Over pairs of blocks of about 100 us.
double block_ratio(Subject& tiny, Subject& plain) {
    const int runs = std::max(1, static_cast<int>(1e5 / std::max(plain.ns_of(3), 1.0)));
    tiny.ns_of(1);
    std::vector<double> ratios;
    for (int pair = 0; pair < 9; ++pair) {
        const double base = plain.ns_of(runs);
        ratios.push_back(tiny.ns_of(runs) / base);
    }
    return median(std::move(ratios));
}

// Over engines of their own: where memory lies makes twins differ.
double ratio(const Graph& graph, const Scale& scale, bool flush, const Catalogue& catalogue) {
    std::vector<double> ratios;
    for (int engines = 0; engines < 7; ++engines) {
        Subject plain(graph, usual, flush, catalogue), tiny(graph, scale, flush, catalogue);
        ratios.push_back(block_ratio(tiny, plain));
    }
    return median(std::move(ratios));
}

int measure(const std::string& folder, double most) {
    const Catalogue catalogue;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path().string());
    std::ranges::sort(files);
    double worst = 0, worst_without = 0;
    int above = 0, graphs = 0;
    std::printf("%-26s %21s   %s\n", "time over that of numbers of order one", "flush_to_zero on", "off");
    std::printf("%-26s %10s %10s   %10s %10s\n", "", subnormal.name, vanishing.name, subnormal.name, vanishing.name);
    for (const std::string& file : files) {
        const Graph graph = parse_graph(read_file(file));
        if (!is_fixed(graph)) continue;
        ++graphs;
        std::printf("%-26s", std::filesystem::path(file).stem().c_str());
        for (bool flush : {true, false}) {
            for (const Scale& scale : {subnormal, vanishing}) {
                const double found = ratio(graph, scale, flush, catalogue);
                std::printf(" %10.2f", found);
                (flush ? worst : worst_without) = std::max(flush ? worst : worst_without, found);
                above += flush && found > most;
            }
            std::printf("  ");
        }
        std::printf("\n");
    }
    std::printf("%d graphs; worst ratio %.2f on, %.2f off; above %.2f with flushing: %d\n", graphs, worst,
                worst_without, most, above);
    return above > 0 ? 1 : 0;
}

}  // namespace
}  // namespace headway

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_subnormals GRAPHS_FOLDER [MOST_RATIO]\n");
        return 2;
    }
    return headway::measure(argv[1], argc > 2 ? std::atof(argv[2]) : 1.2);
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_subnormals: %s\n", error.what());
    return 2;
}
