#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
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

struct Named {
    std::string name, text;  // text: what stands behind the '='
};

std::vector<Named> parse_named(const std::vector<std::string>& texts, const char* option) {
    std::vector<Named> parsed;
    for (const std::string& text : texts) {
        const size_t equals = text.rfind('=');
        if (equals == std::string::npos || equals == 0)
            throw UserError(std::string(option) + " " + escaped(text) + ": expected NAME=NUMBERS");
        std::string name = text.substr(0, equals);
        if (std::any_of(parsed.begin(), parsed.end(), [&](const Named& entry) { return entry.name == name; }))
            throw UserError(std::string(option) + ": input " + escaped(name) + " is given twice");
        parsed.push_back({std::move(name), text.substr(equals + 1)});
    }
    return parsed;
}

// "3", "1..8", "1.." (no upper limit) or "?" (any).
RangeBinding parse_extents(const Named& shape) {
    constexpr int64_t no_limit = std::numeric_limits<int64_t>::max();
    const std::string whole = shape.name + "=" + shape.text;
    RangeBinding range{shape.name, {}, {}};
    for (const std::string& word : split(shape.text, 'x')) {
        const size_t dots = word.find("..");
        const auto number = [&](const std::string& text) { return parse_number(text, whole, "--shape"); };
        int64_t low = 0, high = no_limit;
        if (dots != std::string::npos) {
            low = number(word.substr(0, dots));
            if (dots + 2 < word.size()) high = number(word.substr(dots + 2));
        } else if (word != "?") {
            low = high = number(word);
        }
        if (low < 0) throw UserError("--shape " + escaped(shape.name) + ": a dimension is negative");
        if (high < low) throw UserError("--shape " + escaped(whole) + ": '" + escaped(word) + "' is an empty range");
        range.low.push_back(low);
        range.high.push_back(high);
    }
    return range;
}

std::vector<int64_t> parse_values(const Named& value) {
    std::vector<int64_t> numbers;
    for (const std::string& word : split(value.text, ','))
        numbers.push_back(parse_number(word, value.name + "=" + value.text, "--value"));
    return numbers;
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
    for (const Named& shape : parse_named(options.shapes, "--shape")) {
        RangeBinding range = parse_extents(shape);
        if (range.low == range.high)
            request.shapes.push_back({shape.name, range.low});
        else
            request.ranges.push_back(std::move(range));
    }
    for (const Named& value : parse_named(options.values, "--value"))
        request.values.push_back({value.name, parse_values(value)});
    return request;
}

std::vector<std::string> worker_command() {
    return {std::filesystem::read_symlink("/proc/self/exe").string(), "worker", "--work-limit",
            std::to_string(limits().work)};
}

void add_build_options(CLI::App& app, BuildOptions& options) {
    app.add_option("--threads", options.threads, "Most threads to use (default: the CPUs this process may use)")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    app.add_option("--target", options.target, "What the build may know of the machine: native, avx2, avx512 or a file")
        ->type_name("TARGET")
        ->capture_default_str();
    app.add_option("--shape", options.shapes,
                   "Shape of an input, NAME=1x3x224x224; an extent may stay open, as a range 32..640, 1.. or ?, "
                   "for an engine of open shapes; may be repeated")
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
