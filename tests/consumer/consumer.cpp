// Runs the sample engine (tests/engine/sample.h) through the C++ interface.
#include <cstdio>

#include "headway/headway.hpp"

int main(int, char** argv) {
    const headway::Engine engine(argv[1]);
    if (engine.inputs() != 2 || engine.outputs() != 1 || engine.input(1).name != "y" || engine.input(1).dims[1] != 4 ||
        engine.input(1).elements() != 4 || engine.info("target") != "isa=baseline")
        return std::puts("wrong ports"), 1;
    headway::Context context(engine);
    std::vector<float> x{1, 2, 3, 4}, y{10, 20, 30, 40}, out(4);
    context.run({x.data(), y.data()}, {out.data()});
    if (out != std::vector<float>{22, 66, 132, 220}) return std::puts("wrong result"), 1;
    try {
        const headway::Engine missing("no-such-file.hwe");
    } catch (const headway::Error& error) {
        return error.status() == HW_USER_ERROR ? 0 : 1;
    }
    return std::puts("a missing file was loaded"), 1;
}
