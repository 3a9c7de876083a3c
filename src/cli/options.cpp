#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace headway {
namespace {

int64_t parse_number(const std::string& word, const std::string& whole, const char* option) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc() || end != word.data() + word.size())
        throw UserError(std::string(option) + " " + escaped(whole) + ": '" + escaped(word) + "' is not a whole number");
    return number;
}

using Named = std::pair<std::string, std::vector<int64_t>>;

std::vector<Named> parse_named(const std::vector<std::string>& texts, const char* option, char separator) {
    std::vector<Named> parsed;
    for (const std::string& text : texts) {
        const size_t equals = text.rfind('=');
        if (equals == std::string::npos || equals == 0)
            throw UserError(std::string(option) + " " + escaped(text) + ": expected NAME=NUMBERS");
        const std::string name = text.substr(0, equals);
        if (std::any_of(parsed.begin(), parsed.end(), [&](const auto& entry) { return entry.first == name; }))
            throw UserError(std::string(option) + ": input " + escaped(name) + " is given twice");
        std::vector<int64_t> numbers;
        for (const std::string& word : split(std::string_view(text).substr(equals + 1), separator))
            numbers.push_back(parse_number(word, text, option));
        parsed.emplace_back(name, std::move(numbers));
    }
    return parsed;
}

// The file's content when the argument names a file.
std::string target_text(const std::string& argument) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(argument, ignored) ? read_file(argument) : argument;
}

}  // namespace

OpenRequest open_request(const std::string& model, const BuildOptions& options, const std::string& sample) {
    OpenRequest request;
    request.model = model;
    request.target = target_text(options.target);
    request.threads = options.threads;
    request.timing_data = sample;
    for (const std::string& variant : options.variants)
        request.variants.push_back(std::filesystem::absolute(variant).string());
    for (auto& [name, dims] : parse_named(options.shapes, "--shape", 'x')) {
        if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; }))
            throw UserError("--shape " + escaped(name) + ": a dimension is negative");
        request.shapes.push_back({name, dims});
    }
    for (auto& [name, values] : parse_named(options.values, "--value", ',')) request.values.push_back({name, values});
    return request;
}

void add_build_options(CLI::App& app, BuildOptions& options) {
    app.add_option("--threads", options.threads, "Most threads to use (default: the CPUs this process may use)")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    app.add_option("--target", options.target, "What the build may know of the machine: native, avx2, avx512 or a file")
        ->type_name("TARGET")
        ->capture_default_str();
    app.add_option("--shape", options.shapes, "Shape of an input, NAME=1x3x224x224; may be repeated")
        ->type_name("NAME=DIMS")
        ->allow_extra_args(false);
    app.add_option("--value", options.values, "Fixed value of a small integer input, NAME=16000; may be repeated")
        ->type_name("NAME=NUMBERS")
        ->allow_extra_args(false);
    app.add_option(
           "--variant", options.variants,
           "Another ONNX file of the same model, as one quantised by a runtime's own tool, that a builder which "
           "drives that runtime may choose; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

void add_json_option(CLI::App& app, bool& json) {
    app.add_flag("--json", json, "Print the machine form of the same facts");
}

}  // namespace headway
