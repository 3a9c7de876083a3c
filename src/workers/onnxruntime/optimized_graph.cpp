#include "workers/onnxruntime/optimized_graph.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "graph/limits.h"
#include "onnx/external_data.h"
#include "tensor/wire.h"

namespace headway::ort {
namespace {

using Names = std::map<std::string, Hash, std::less<>>;  // values by name

// Field numbers of onnx.proto.
namespace field {
enum Model { model_graph = 7 };
enum Graph { node = 1, initializer = 5, input = 11, output = 12 };
enum Node { node_input = 1, node_output = 2, op = 4, attribute = 5, domain = 7 };
enum Attribute { attribute_name = 1, attribute_graph = 6, attribute_graphs = 11, attribute_doc = 13 };
enum Tensor { dims = 1, data_type = 2, tensor_name = 8, tensor_doc = 12, external_data = 13, data_location = 14 };
enum ValueInfo { value_name = 1 };
}  // namespace field

// One of the two hashes of a graph: with the values of large constants, or without.
class Digest {
public:
    Digest(bool with_constants, ModelFolder& folder, std::map<std::string, int64_t>& operators)
        : with_constants_(with_constants), folder_(folder), operators_(operators) {}

    Hash graph(std::string_view bytes, Names names, int depth) {
        if (depth > max_graph_depth) throw UserError("sub-graphs are nested too deeply");
        Hasher boundary;
        int64_t inputs = 0;
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == field::initializer) {
                const auto [name, hash] = initializer(wire.bytes());
                names[name] = hash;
            } else if (wire.tag() == field::input) {
                // The model's inputs are known by name and shape, those of a sub-graph by position.
                const std::string_view port = wire.bytes();
                Hasher hasher;
                hasher.add("input").add(int64_t{depth}).add(inputs++);
                if (depth == 0) hasher.add(port);
                names[std::string(name_of(port))] = hasher.finish();
            } else {
                wire.skip();
            }
        }
        std::vector<Hash> nodes;
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == field::node)
                nodes.push_back(node(wire.bytes(), names, depth));
            else
                wire.skip();
        }
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == field::output)
                boundary.add(value(name_of(wire.bytes()), names));
            else
                wire.skip();
        }
        std::ranges::sort(nodes);
        for (const Hash& hash : nodes) boundary.add(hash);
        return boundary.finish();
    }

private:
    static constexpr size_t small = 64;  // bytes of a constant that may be a shape or an axis, which decides on speed

    Hash node(std::string_view bytes, Names& names, int depth) {
        std::string_view op, domain;
        std::vector<std::string_view> inputs, outputs, attributes;
        for (Wire wire(bytes); wire.next();) {
            switch (wire.tag()) {
                case field::node_input:
                    inputs.push_back(wire.bytes());
                    break;
                case field::node_output:
                    outputs.push_back(wire.bytes());
                    break;
                case field::op:
                    op = wire.bytes();
                    break;
                case field::domain:
                    domain = wire.bytes();
                    break;
                case field::attribute:
                    attributes.push_back(wire.bytes());
                    break;
                default:
                    wire.skip();
            }
        }
        ++operators_[domain.empty() ? std::string(op) : std::string(domain) + "." + std::string(op)];
        Hasher hasher;
        hasher.add(op).add(domain).add(static_cast<int64_t>(outputs.size()));
        for (const std::string_view input : inputs) hasher.add(value(input, names));
        std::vector<Hash> settings;
        for (const std::string_view attribute : attributes)
            settings.push_back(this->attribute(attribute, names, depth));
        std::ranges::sort(settings);
        for (const Hash& setting : settings) hasher.add(setting);
        const Hash hash = hasher.finish();
        for (size_t k = 0; k < outputs.size(); ++k)
            names[std::string(outputs[k])] = Hasher().add(hash).add(static_cast<int64_t>(k)).finish();
        return hash;
    }

    Hash attribute(std::string_view bytes, const Names& names, int depth) {
        Hasher hasher;
        bool has_graph = false;
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == field::attribute_name) {
                hasher.add(wire.bytes());
            } else if (wire.tag() == field::attribute_graph || wire.tag() == field::attribute_graphs) {
                has_graph = true;
                hasher.add(graph(wire.bytes(), names, depth + 1));
            } else {
                wire.skip();
            }
        }
        if (!has_graph) hasher.add(bytes);
        return hasher.finish();
    }

    std::pair<std::string, Hash> initializer(std::string_view bytes) const {
        Hasher hasher;
        std::string name;
        bool is_small = true;
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == field::dims || wire.tag() == field::data_type) {
                std::vector<int64_t> numbers;
                wire.append(numbers);
                for (const int64_t number : numbers) hasher.add(number);
            } else if (wire.tag() == field::tensor_name) {
                name = wire.bytes();
            } else {
                if (wire.tag() == field::external_data) is_small = false;
                wire.skip();
            }
        }
        if (bytes.size() - name.size() > 2 * small) is_small = false;
        if (with_constants_ || is_small) hasher.add(data_hash(bytes));
        return {name, hasher.finish()};
    }

    // Of what holds a tensor's values, in whichever of its fields.
    Hash data_hash(std::string_view bytes) const {
        Hasher hasher;
        std::map<std::string, std::string> external;
        for (Wire wire(bytes); wire.next();) {
            switch (wire.tag()) {
                case field::dims:
                case field::data_type:
                case field::tensor_name:
                case field::tensor_doc:
                case field::data_location:
                    wire.skip();
                    break;
                case field::external_data: {
                    const StringEntry entry = read_string_entry(wire.bytes());
                    external[std::string(entry.key)] = entry.value;
                    break;
                }
                default:
                    hasher.add(int64_t{wire.tag()}).add(field_hash(wire));
            }
        }
        if (!external.empty()) hasher.add(external_hash(external));
        return hasher.finish();
    }

    // Where it lies in its file depends on the order of the constants, which does not count.
    Hash external_hash(std::map<std::string, std::string>& entries) const {
        const auto number = [&](const char* key) {
            int64_t value = 0;
            const std::string& text = entries[key];
            std::from_chars(text.data(), text.data() + text.size(), value);
            return value;
        };
        const ExternalData::Bytes data = folder_.load(entries["location"], number("offset"), number("length"));
        return hash_bytes(data.bytes.data(), data.bytes.size());
    }

    static Hash field_hash(Wire& wire) {
        constexpr uint32_t raw_data = 9, float_data = 4, double_data = 10;
        if (wire.tag() == raw_data) {
            const std::string_view data = wire.bytes();
            return hash_bytes(data.data(), data.size());
        }
        if (wire.tag() == float_data) return hash_of_numbers<float>(wire);
        if (wire.tag() == double_data) return hash_of_numbers<double>(wire);
        constexpr uint32_t string_data = 6;
        if (wire.tag() == string_data) return hash_text(wire.bytes());
        return hash_of_numbers<int64_t>(wire);
    }

    template <class T>
    static Hash hash_of_numbers(Wire& wire) {
        std::vector<T> numbers;
        wire.append(numbers);
        return hash_bytes(numbers.data(), numbers.size() * sizeof(T));
    }

    static std::string_view name_of(std::string_view value_info) {
        std::string_view name;
        for (Wire wire(value_info); wire.next();) {
            if (wire.tag() == field::value_name)
                name = wire.bytes();
            else
                wire.skip();
        }
        return name;
    }

    static Hash value(std::string_view name, const Names& names) {
        const auto found = names.find(name);
        return found != names.end() ? found->second : hash_text(name);
    }

    bool with_constants_;
    ModelFolder& folder_;
    std::map<std::string, int64_t>& operators_;
};

Hash digest(std::string_view model, bool with_constants, ModelFolder& folder,
            std::map<std::string, int64_t>& operators) {
    for (Wire wire(model); wire.next();) {
        if (wire.tag() == field::model_graph)
            return Digest(with_constants, folder, operators).graph(wire.bytes(), {}, 0);
        wire.skip();
    }
    throw UserError("it holds no graph");
}

}  // namespace

OptimizedGraph read_optimized_graph(const std::string& path) {
    const MappedFile file(path);
    const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    OptimizedGraph graph;
    std::map<std::string, int64_t> again;
    try {
        ModelFolder folder(std::filesystem::path(path).parent_path().string());
        graph.content = digest(bytes, true, folder, graph.operators);
        graph.structure = digest(bytes, false, folder, again);
    } catch (const UserError& error) {
        throw UserError(path + ": " + error.what());
    }
    return graph;
}

}  // namespace headway::ort
