// Files of data: ONNX's messages and NumPy's formats.
#include <memory>

#include "data/npy.h"
#include "target.h"
#include "tensor/datum.h"
#include "tensor/tensor_proto.h"

namespace headway::fuzz {
namespace {

// Any tensor that was read is written so that it reads back the same.
void check_round_trip(const NamedTensor& read) {
    const auto owner = std::make_shared<const std::string>(write_tensor_proto(read.tensor, read.name));
    const NamedTensor again = read_tensor_proto(*owner, owner);
    HEADWAY_CHECK(again.name == read.name && again.tensor.hash() == read.tensor.hash());
}

template <class F>
void each_on_its_own(F&& read) {
    try {
        read();
    } catch (const UserError&) {
    }
}

void read_messages(std::string_view bytes) {
    const auto owner = std::make_shared<const std::string>(bytes);
    each_on_its_own([&] { check_round_trip(read_tensor_proto(*owner, owner)); });
    each_on_its_own([&] { read_sequence_proto(*owner, owner); });
    each_on_its_own([&] { read_optional_proto(*owner, owner); });
}

const Target proto_target{{.name = "tensor_proto", .run = read_messages, .is_protobuf = true}};

void read_array(std::string_view bytes) {
    const auto owner = std::make_shared<const std::string>(bytes);
    const Tensor tensor = read_npy(std::as_bytes(std::span(owner->data(), owner->size())), owner);
    const auto written = std::make_shared<const std::string>(write_npy(tensor));
    const Tensor again = read_npy(std::as_bytes(std::span(written->data(), written->size())), written);
    HEADWAY_CHECK(again.hash() == tensor.hash());
}

const Target npy_target{{.name = "npy", .run = read_array}};

const Target npz_target{{.name = "npz", .run = [](std::string_view bytes) { read_npz(as_file(bytes)); }}};

}  // namespace
}  // namespace headway::fuzz
