// Writes the sample engines: once per engine file version, into tests/data.
// usage: make_sample_engine PLANNED STAGED
#include <cstdio>

#include "runtime/engine_file.h"
#include "sample.h"

int main(int argc, char** argv) {
    if (argc != 3) return std::fprintf(stderr, "usage: make_sample_engine PLANNED STAGED\n"), 2;
    headway::write_engine_file(argv[1], headway::testing::sample_plan(), headway::testing::sample_info());
    const headway::EngineFile staged = headway::testing::staged_sample();
    headway::write_engine_file(argv[2], staged.plan, staged.info, staged.staged);
}
