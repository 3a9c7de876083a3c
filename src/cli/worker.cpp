// headway worker: the far end of the worker protocol. Started by tune and bench, not by people.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "workers/serve.h"

namespace headway {
namespace {

std::unique_ptr<Builder> make_builder(const std::string& name) {
    const Registry<BuilderKind> kinds = declared<BuilderKind>();
    if (const BuilderKind* kind = kinds.find(name)) return kind->make();
    throw UserError("no builder '" + escaped(name) + "'; there are: " + join(kinds.names(), ", "));
}

const Command worker{"worker", "Serve one builder over the worker protocol (used by tune)",
                     [](CLI::App& app) -> Command::Action {
                         auto name = std::make_shared<std::string>("native");
                         app.add_option("--builder", *name, "The builder to serve")->capture_default_str();
                         return [name] { return serve([name] { return make_builder(*name); }); };
                     }};

}  // namespace
}  // namespace headway
