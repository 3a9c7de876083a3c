// Loads an engine, feeds it ones, runs it and prints what comes out. usage: run_engine ENGINE.hwe
#include <cstdio>

#include "headway/headway.hpp"

int main(int argc, char** argv) try {
    if (argc != 2) return std::fprintf(stderr, "usage: run_engine ENGINE.hwe\n"), 2;
    const headway::Engine engine(argv[1]);
    headway::Context context(engine);
    std::vector<std::vector<float>> inputs, outputs;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (size_t i = 0; i < engine.inputs(); ++i)
        in.push_back(inputs.emplace_back(engine.input(i).bytes / 4, 1.0F).data());
    for (size_t i = 0; i < engine.outputs(); ++i)
        out.push_back(outputs.emplace_back(engine.output(i).bytes / 4).data());
    context.run(in, out);
    for (size_t i = 0; i < outputs.size(); ++i)
        for (size_t k = 0; k < outputs[i].size() && k < 8; ++k)
            std::printf("%s[%zu] = %g\n", std::string(engine.output(i).name).c_str(), k, outputs[i][k]);
} catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
}
