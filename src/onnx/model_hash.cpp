#include "onnx/model_hash.h"

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "graph/limits.h"
#include "onnx/external_data.h"
#include "tensor/wire.h"

namespace headway {
namespace {

// Where external data lie: ModelProto.graph -> GraphProto.node/initializer -> AttributeProto.t/g/tensors/graphs ->
// TensorProto.external_data {key, value}, with the field numbers of onnx.proto.
class Locations {
public:
    std::set<std::string> find(std::string_view model) {
        for (Wire wire(model); wire.next();) {
            if (wire.tag() == 7)
                graph(wire.bytes(), 0);
            else
                wire.skip();
        }
        return std::move(found_);
    }

private:
    void graph(std::string_view bytes, int depth) {
        if (depth > max_graph_depth) throw UserError("sub-graphs are nested too deeply");
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == 1)
                node(wire.bytes(), depth);
            else if (wire.tag() == 5)
                tensor(wire.bytes());
            else
                wire.skip();
        }
    }

    void node(std::string_view bytes, int depth) {
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == 5)
                attribute(wire.bytes(), depth);
            else
                wire.skip();
        }
    }

    void attribute(std::string_view bytes, int depth) {
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == 5 || wire.tag() == 10)
                tensor(wire.bytes());
            else if (wire.tag() == 6 || wire.tag() == 11)
                graph(wire.bytes(), depth + 1);
            else
                wire.skip();
        }
    }

    void tensor(std::string_view bytes) {
        constexpr int64_t external = 1;  // TensorProto.DataLocation
        std::string location;
        bool is_external = false;
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == 13) {
                if (const StringEntry entry = read_string_entry(wire.bytes()); entry.key == "location")
                    location = entry.value;
            } else if (wire.tag() == 14) {
                is_external = wire.integer() == external;
            } else {
                wire.skip();
            }
        }
        if (is_external) found_.insert(location);
    }

    std::set<std::string> found_;
};

}  // namespace

Hash model_hash(std::string_view bytes, const std::string& folder) {
    ModelFolder external(folder);
    for (const std::string& location : Locations().find(bytes)) external.load(location, 0, 0);
    Hasher hasher;
    hasher.add_bytes(bytes.data(), bytes.size());
    external.add_to(hasher);
    return hasher.finish();
}

Hash model_hash(const std::string& path) {
    const MappedFile file(path);
    const std::string folder = std::filesystem::path(path).parent_path().string();
    try {
        return model_hash({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                          folder.empty() ? "." : folder);
    } catch (const UserError& error) {
        throw UserError(path + ": " + error.what());
    }
}

}  // namespace headway
