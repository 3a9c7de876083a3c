// The worker process of the tuner's tests: serves the FakeBuilder on its virtual clock.
#include <unistd.h>

#include "fake_builder.h"
#include "workers/serve.h"

// Started as `fake_worker [--builder NAME]`.
int main(int argc, char** argv) {
    using namespace headway;
    FakeBuilder* fake = nullptr;
    const int protocol_fd = ::dup(1);
    return serve(
        [&] {
            auto builder = std::make_unique<FakeBuilder>(argc > 2 ? argv[2] : "native", protocol_fd);
            fake = builder.get();
            return builder;
        },
        [&] { return fake->clock_ns(); });
}
