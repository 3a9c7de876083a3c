#include "workers/foreign/recipe.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "onnx/model_hash.h"
#include "tensor/element_type.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t most_bytes = size_t{16} << 20;  // of the file: routes and certificates are text
constexpr size_t most_text = size_t{1} << 20;    // of one field
constexpr size_t most_entries = 4096;            // of a list or object
constexpr std::string_view beginning = R"({"headway_recipe":)";

// Every text field, in the order of the file.
struct TextField {
    const char* name;
    std::string Recipe::*member;
};
constexpr std::array<TextField, 7> before_inputs{{
    {"builder", &Recipe::builder},
    {"builder_version", &Recipe::builder_version},
    {"runtime_version", &Recipe::runtime_version},
    {"model", &Recipe::model},
    {"model_hash", &Recipe::model_hash},
    {"variant", &Recipe::variant},
    {"variant_hash", &Recipe::variant_hash},
}};
constexpr std::array<TextField, 3> after_inputs{{
    {"route", &Recipe::route},
    {"fingerprint", &Recipe::fingerprint},
    {"timing_key", &Recipe::timing_key},
}};

Json to_json(const Recipe& recipe) {
    Json json{{"headway_recipe", recipe_version}};
    for (const TextField& field : before_inputs) json[field.name] = recipe.*field.member;
    json["inputs"] = Json::array();
    for (const PortDescription& input : recipe.inputs)
        json["inputs"].push_back({{"name", input.name}, {"type", input.type}, {"dims", input.dims}});
    for (const TextField& field : after_inputs) json[field.name] = recipe.*field.member;
    json["settings"] = recipe.settings;
    if (!recipe.certificate.empty()) json["certificate"] = Json::parse(recipe.certificate);
    return json;
}

class Reader {
public:
    explicit Reader(const Json& json) : json_(json) {}

    Recipe read() {
        const Json& version = member(json_, "headway_recipe");
        if (version != recipe_version)
            throw UserError("is of recipe version " + version.dump().substr(0, 20) + ", this program reads version " +
                            std::to_string(recipe_version));
        Recipe recipe;
        for (const TextField& field : before_inputs) recipe.*field.member = text(member(json_, field.name), field.name);
        for (const TextField& field : after_inputs) recipe.*field.member = text(member(json_, field.name), field.name);
        for (const Json& input : entries(member(json_, "inputs"), Json::value_t::array, "inputs"))
            recipe.inputs.push_back(port(input));
        for (const auto& [knob, value] : entries(member(json_, "settings"), Json::value_t::object, "settings").items())
            recipe.settings[knob] = text(value, "settings");
        if (const auto certificate = json_.find("certificate"); certificate != json_.end()) {
            known_.insert("certificate");
            recipe.certificate = certificate->dump();
        }
        for (const auto& [name, value] : json_.items())
            if (!known_.contains(name)) throw UserError("the field \"" + escaped(name) + "\" is unknown");
        if (recipe.model.empty()) throw UserError("the field \"model\" is empty");
        return recipe;
    }

private:
    const Json& member(const Json& object, const char* name) {
        known_.insert(name);
        const auto found = object.find(name);
        if (found == object.end()) throw UserError("the field \"" + std::string(name) + "\" is missing");
        return *found;
    }

    static std::string text(const Json& value, const char* name) {
        if (!value.is_string()) throw UserError("the field \"" + std::string(name) + "\" is no text");
        const std::string& found = value.get_ref<const std::string&>();
        if (found.size() > most_text || found.find('\0') != std::string::npos)
            throw UserError("the field \"" + std::string(name) + "\" is too long or holds a zero byte");
        return found;
    }

    static const Json& entries(const Json& value, Json::value_t type, const char* name) {
        if (value.type() != type)
            throw UserError("the field \"" + std::string(name) + "\" is no " +
                            (type == Json::value_t::array ? "list" : "object"));
        if (value.size() > most_entries)
            throw UserError("the field \"" + std::string(name) + "\" has too many entries");
        return value;
    }

    PortDescription port(const Json& json) {
        if (!json.is_object()) throw UserError("the field \"inputs\" holds something that is no input");
        PortDescription port{text(member(json, "name"), "name"), text(member(json, "type"), "type"), {}};
        if (element_type_from_string(port.type) == ElementType::undefined)
            throw UserError("the field \"inputs\" has the unknown type \"" + escaped(port.type) + "\"");
        for (const Json& dim : entries(member(json, "dims"), Json::value_t::array, "dims")) {
            if (!dim.is_number_unsigned() || dim.get<uint64_t>() > uint64_t{1} << 40)
                throw UserError("the field \"inputs\" has a dimension that is no size");
            port.dims.push_back(dim.get<int64_t>());
        }
        return port;
    }

    const Json& json_;
    std::set<std::string, std::less<>> known_;
};

bool has_hash(const std::string& file, const std::string& hash) { return model_hash(file).hex() == hash; }

}  // namespace

void write_recipe(const std::string& path, const Recipe& recipe) {
    write_file_atomically(path, to_json(recipe).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Recipe read_recipe(const std::string& path) {
    const MappedFile file(path);
    try {
        if (file.bytes().size() > most_bytes) throw UserError("is too large for a recipe");
        const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
        const Json json = read_json(text);
        if (!json.is_object()) throw UserError("is no JSON object");
        return Reader(json).read();
    } catch (const UserError& error) {
        throw UserError(path + ": damaged recipe: " + error.what());
    }
}

Recipe read_own_recipe(const std::string& path, const std::string& builder, const std::string& runtime,
                       const std::string& version) {
    Recipe recipe = read_recipe(path);
    if (recipe.builder != builder)
        throw UserError(path + " is an engine of the builder " + escaped(recipe.builder) + ", not of " + builder);
    if (recipe.runtime_version != version)
        throw UserError(path + " was built with " + runtime + " " + escaped(recipe.runtime_version) + ", here is " +
                        version + ": build it again");
    return recipe;
}

std::optional<std::string> recipe_builder(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(256, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    if (!text.starts_with(beginning)) return std::nullopt;
    constexpr std::string_view key = R"("builder":")";
    const size_t begin = text.find(key);
    if (begin == std::string::npos) return std::nullopt;
    const size_t end = text.find('"', begin + key.size());
    if (end == std::string::npos) return std::nullopt;
    return text.substr(begin + key.size(), end - begin - key.size());
}

void set_recipe_certificate(const std::string& path, const std::string& json) {
    if (!Json::accept(json)) throw UserError("the certificate for " + path + " is no JSON");
    Recipe recipe = read_recipe(path);
    recipe.certificate = json;
    write_recipe(path, recipe);
}

std::string find_recipe_model(const Recipe& recipe, const std::string& path) {
    const std::string& recorded = recipe.variant.empty() ? recipe.model : recipe.variant;
    const std::string& hash = recipe.variant.empty() ? recipe.model_hash : recipe.variant_hash;
    const std::string beside = (fs::path(path).parent_path() / fs::path(recorded).filename()).string();
    bool found = false;
    for (const std::string& place : {recorded, beside}) {
        std::error_code ignored;
        if (!fs::is_regular_file(place, ignored)) continue;
        if (has_hash(place, hash)) return place;
        found = true;
    }
    if (found)
        throw UserError(path + ": the model " + recorded + " has changed since the engine was built: build it again");
    throw UserError(path + ": the model " + recorded + " is gone; put it there or beside the engine");
}

}  // namespace headway
