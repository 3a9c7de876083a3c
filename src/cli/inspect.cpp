// headway inspect: what a model asks for, or what an engine does.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/options.h"
#include "cli/runnable.h"
#include "graph/text.h"
#include "onnx/import.h"
#include "ops/op.h"
#include "runtime/engine_file.h"
#include "workers/foreign/recipe.h"

namespace headway {
namespace {

struct Options {
    std::string operand;
    bool text = false;
    bool json = false;
};

int run(const Options& options) {
    if (recipe_builder(options.operand)) {
        read_recipe(options.operand);  // what is shown is whole
        std::cout << read_file(options.operand) << "\n";
        return exit_yes;
    }
    if (is_engine_file(options.operand)) {
        const EngineFile file = read_engine_file(options.operand);
        if (options.json)
            std::cout << engine_json(file).dump() << "\n";
        else
            std::cout << engine_text(file);
        return exit_yes;
    }
    const OnnxModel model = import_onnx(options.operand, declared<Op>());
    if (options.text)
        std::cout << print_graph(model.graph);
    else if (options.json)
        std::cout << model_json(model).dump() << "\n";
    else
        std::cout << model_text(model);
    return exit_yes;
}

const Command command{"inspect", "Show what a model asks for, or what an engine does",
                      [](CLI::App& app) -> Command::Action {
                          auto options = std::make_shared<Options>();
                          app.add_option("operand", options->operand, "An ONNX file or an engine file")
                              ->required()
                              ->type_name("MODEL|E.hwe");
                          app.add_flag("--text", options->text, "Print a model's graph in Headway's text form");
                          add_json_option(app, options->json);
                          return [options] { return run(*options); };
                      }};

}  // namespace
}  // namespace headway
