#include "workers/openvino/api.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "workers/foreign/library.h"

namespace headway::openvino {
namespace {

constexpr std::array<std::pair<ElementType, OvElementType>, 13> element_types{{{ElementType::boolean, 1},
                                                                               {ElementType::bf16, 2},
                                                                               {ElementType::f16, 3},
                                                                               {ElementType::f32, 4},
                                                                               {ElementType::f64, 5},
                                                                               {ElementType::i8, 7},
                                                                               {ElementType::i16, 8},
                                                                               {ElementType::i32, 9},
                                                                               {ElementType::i64, 10},
                                                                               {ElementType::u8, 16},
                                                                               {ElementType::u16, 17},
                                                                               {ElementType::u32, 18},
                                                                               {ElementType::u64, 19}}};

const LibrarySearch search{.runtime = "OpenVINO",
                           .variable = "HEADWAY_OPENVINO",
                           .package = "openvino/libs",
                           .file = "libopenvino_c.so",
                           .loader_names = {"libopenvino_c.so"},
                           .install = "install it with `pip install openvino==2026.4.1` or tools/bootstrap --peers"};

// OpenVINO's messages run over several lines, some of which only name places in its sources.
bool is_place(std::string_view line) {
    return line.starts_with("Exception from ") || (line.starts_with("Check '") && line.ends_with(":"));
}

std::string on_one_line(std::string_view message) {
    std::string line;
    for (const std::string& part : split(message, '\n')) {
        const std::string_view text = trimmed(part);
        if (text.empty() || is_place(text)) continue;
        line += (line.empty() ? "" : " ") + std::string(text);
    }
    return escaped(line);
}

template <class Function>
void find(const Library& library, Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(library.symbol(name));
}

}  // namespace

Api::Api() {
    const Library library(search);
#define HEADWAY_OPENVINO_FIND(name) find(library, name, "ov_" #name)
    HEADWAY_OPENVINO_FIND(get_openvino_version);
    HEADWAY_OPENVINO_FIND(version_free);
    HEADWAY_OPENVINO_FIND(get_last_err_msg);
    HEADWAY_OPENVINO_FIND(get_error_info);
    HEADWAY_OPENVINO_FIND(free);
    HEADWAY_OPENVINO_FIND(core_create);
    HEADWAY_OPENVINO_FIND(core_free);
    HEADWAY_OPENVINO_FIND(core_set_property);
    HEADWAY_OPENVINO_FIND(core_get_property);
    HEADWAY_OPENVINO_FIND(core_read_model);
    HEADWAY_OPENVINO_FIND(core_compile_model);
    HEADWAY_OPENVINO_FIND(model_free);
    HEADWAY_OPENVINO_FIND(model_inputs_size);
    HEADWAY_OPENVINO_FIND(model_outputs_size);
    HEADWAY_OPENVINO_FIND(model_const_input_by_index);
    HEADWAY_OPENVINO_FIND(model_const_output_by_index);
    HEADWAY_OPENVINO_FIND(model_reshape_by_port_indexes);
    HEADWAY_OPENVINO_FIND(output_const_port_free);
    HEADWAY_OPENVINO_FIND(port_get_any_name);
    HEADWAY_OPENVINO_FIND(port_get_element_type);
    HEADWAY_OPENVINO_FIND(port_get_partial_shape);
    HEADWAY_OPENVINO_FIND(partial_shape_free);
    HEADWAY_OPENVINO_FIND(preprocess_prepostprocessor_free);
    HEADWAY_OPENVINO_FIND(preprocess_prepostprocessor_create);
    HEADWAY_OPENVINO_FIND(preprocess_prepostprocessor_get_input_info_by_index);
    HEADWAY_OPENVINO_FIND(preprocess_prepostprocessor_build);
    HEADWAY_OPENVINO_FIND(preprocess_input_info_free);
    HEADWAY_OPENVINO_FIND(preprocess_input_info_get_tensor_info);
    HEADWAY_OPENVINO_FIND(preprocess_input_tensor_info_free);
    HEADWAY_OPENVINO_FIND(preprocess_input_tensor_info_set_from);
    HEADWAY_OPENVINO_FIND(compiled_model_free);
    HEADWAY_OPENVINO_FIND(compiled_model_get_property);
    HEADWAY_OPENVINO_FIND(compiled_model_create_infer_request);
    HEADWAY_OPENVINO_FIND(infer_request_free);
    HEADWAY_OPENVINO_FIND(infer_request_set_input_tensor_by_index);
    HEADWAY_OPENVINO_FIND(infer_request_set_output_tensor_by_index);
    HEADWAY_OPENVINO_FIND(infer_request_get_output_tensor_by_index);
    HEADWAY_OPENVINO_FIND(infer_request_infer);
    HEADWAY_OPENVINO_FIND(infer_request_start_async);
    HEADWAY_OPENVINO_FIND(infer_request_wait);
    HEADWAY_OPENVINO_FIND(infer_request_get_profiling_info);
    HEADWAY_OPENVINO_FIND(profiling_info_list_free);
    HEADWAY_OPENVINO_FIND(tensor_free);
    HEADWAY_OPENVINO_FIND(tensor_create);
    HEADWAY_OPENVINO_FIND(tensor_create_from_host_ptr);
    HEADWAY_OPENVINO_FIND(tensor_get_shape);
    HEADWAY_OPENVINO_FIND(tensor_get_element_type);
    HEADWAY_OPENVINO_FIND(tensor_get_byte_size);
    HEADWAY_OPENVINO_FIND(tensor_data);
    HEADWAY_OPENVINO_FIND(shape_free);
#undef HEADWAY_OPENVINO_FIND
    check_element_types();
}

void Api::check(OvStatus status) const {
    if (status == 0) return;
    const char* message = get_last_err_msg();
    const std::string line = message == nullptr ? "" : on_one_line(message);
    free(message);
    // the wrapper itself gives a status only
    throw OvError(line.empty() ? std::string("OpenVINO answers ") + get_error_info(status) : line);
}

std::string Api::version() const {
    OvVersion version{};
    check(get_openvino_version(&version));
    std::string text = version.build_number;
    version_free(&version);
    return text;
}

// Types of one size cannot be told apart, but a table that shifted by one place does not keep all sizes.
void Api::check_element_types() const {
    int64_t dims[] = {8};
    for (const auto& [ours, theirs] : element_types) {
        OvTensor* made = nullptr;
        size_t bytes = 0;
        const bool created = tensor_create(theirs, OvShape{1, dims}, &made) == 0;
        if (created) {
            const Handle<OvTensor> tensor(made, tensor_free);
            check(tensor_get_byte_size(made, &bytes));
        }
        if (bytes != 8 * size_of(ours))
            throw UserError("OpenVINO " + version() + " numbers its element types in another way than 2026.4; " +
                            search.install);
    }
}

ElementType from_openvino(OvElementType type) {
    for (const auto& [ours, theirs] : element_types)
        if (theirs == type) return ours;
    throw Unsupported("the model has a port of OpenVINO's element type " + std::to_string(type) +
                      ", which Headway does not handle");
}

OvElementType to_openvino(ElementType type) {
    for (const auto& [ours, theirs] : element_types)
        if (ours == type) return theirs;
    throw Unsupported("OpenVINO has no element type " + std::string(to_string(type)));
}

}  // namespace headway::openvino
