#include "onnx/import.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "graph/verify.h"
#include "onnx/external_data.h"
#include "onnx/import_graph.h"
#include "onnx/model_hash.h"
#include "onnx/proto.h"

namespace headway {
namespace {

// The newest operator set of ai.onnx whose definitions were looked at (ONNX 1.22). Definitions change between sets, so
// a newer one may mean something else by the same operator.
constexpr int newest_opset = 27;

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::map<std::string, int> read_opsets(const proto::Model& model) {
    std::map<std::string, int> opsets;
    for (const proto::OpsetImport& import : model.opsets) {
        const std::string domain = import.domain == "ai.onnx" ? "" : std::string(import.domain);
        if (import.version < 1 || import.version > std::numeric_limits<int>::max())
            throw UserError("operator set " + std::to_string(import.version) + " does not exist");
        if (domain.empty() && import.version > newest_opset)
            throw Unsupported("operator set " + std::to_string(import.version) + " is newer than " +
                              std::to_string(newest_opset) + ", the newest that is handled");
        const auto [entry, is_new] = opsets.emplace(domain, static_cast<int>(import.version));
        if (!is_new && entry->second != import.version)
            throw UserError("two versions of the operator set of domain \"" + escaped(domain) + "\"");
    }
    // before IR 3 a file had no opset_import: everything was of the first set
    if (opsets.empty() && model.ir_version < 3) opsets.emplace("", 1);
    return opsets;
}

void refuse_unsupported(const ImportState& state, bool has_functions) {
    if (state.unsupported.empty()) return;
    constexpr size_t most_shown = 12;
    std::string message = state.first_unsupported;
    if (state.unsupported.size() > 1) {
        message += "; operators that are not supported:";
        size_t shown = 0;
        for (const std::string& name : state.unsupported) {
            if (shown == most_shown) message += " and " + std::to_string(state.unsupported.size() - shown) + " more";
            if (shown++ == most_shown) break;
            message += " " + escaped(name);
        }
    }
    if (has_functions) message += "; functions defined in the model are not handled";
    throw Unsupported(message);
}

OnnxModel import_bytes(const std::shared_ptr<const MappedFile>& file, const std::string& folder,
                       const Registry<Op>& ops, const ImportOptions& options) {
    const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
    if (bytes.empty()) throw UserError("the file is empty");
    const proto::Model header = proto::read_model(bytes);
    if (!header.graph || header.ir_version < 1) throw UserError("not an ONNX model: it holds no graph");
    ModelFolder external(folder);
    ImportState state{.ops = ops,
                      .owner = file,
                      .external = external,
                      .opsets = read_opsets(header),
                      .fed_inputs = {options.fed_inputs.begin(), options.fed_inputs.end()},
                      .ir_version = header.ir_version,
                      .budget = proto::max_items};
    OnnxModel model;
    model.graph = import_graph(*header.graph, state);
    if (model.graph.outputs.empty()) throw UserError("the model has no outputs");
    refuse_unsupported(state, header.has_functions);
    verify_graph(model.graph, Stage::imported);
    model.hash = model_hash(bytes, folder);
    model.ir_version = header.ir_version;
    model.producer = header.producer;
    model.opsets = std::move(state.opsets);
    model.defaulted_inputs = std::move(state.defaulted_inputs);
    return model;
}

}  // namespace

OnnxModel import_onnx(const std::string& path, const Registry<Op>& ops, const ImportOptions& options) {
    const auto file = std::make_shared<const MappedFile>(path);
    try {
        return import_bytes(file, folder_of(path), ops, options);
    } catch (const Unsupported& error) {
        throw Unsupported(path + ": " + error.what());
    } catch (const UserError& error) {
        throw UserError(path + ": " + error.what());
    }
}

}  // namespace headway
