// Writes the sample engine: once per engine file version, into tests/data. usage: make_sample_engine FILE
#include <cstdio>

#include "runtime/engine_file.h"
#include "sample.h"

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: make_sample_engine FILE\n"), 2;
    headway::write_engine_file(argv[1], headway::testing::sample_plan(), headway::testing::sample_info());
}
