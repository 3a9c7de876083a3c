#include "tensor/datum.h"

#include "tensor/tensor_proto.h"
#include "tensor/wire.h"

namespace headway {

std::string_view kind_of(const Datum& datum) {
    if (std::holds_alternative<Tensor>(datum)) return "a tensor";
    if (std::holds_alternative<Strings>(datum)) return "a tensor of strings";
    return std::holds_alternative<Sequence>(datum) ? "a sequence" : "an absent optional";
}

Datum datum_of(TensorValues values) {
    return std::visit([](auto&& each) { return Datum(std::forward<decltype(each)>(each)); }, std::move(values));
}

void insert_tensor(Sequence& sequence, size_t position, TensorValues tensor) {
    HEADWAY_CHECK(position <= sequence.tensors.size());
    const ElementType type = element_type(tensor);
    if (sequence.type == ElementType::undefined) sequence.type = type;
    if (sequence.type != type)
        throw UserError("a tensor of type " + std::string(to_string(type)) + " does not go into a sequence of " +
                        std::string(to_string(sequence.type)));
    sequence.tensors.insert(sequence.tensors.begin() + static_cast<std::ptrdiff_t>(position), std::move(tensor));
}

Datum read_tensor_datum(std::string_view message, const std::shared_ptr<const void>& owner) {
    return datum_of(read_tensor_values_proto(message, owner).values);
}

// In both messages: field 1 the name, 2 the kind of the elements, 3 tensors; beyond it what is not handled. Kind 0 is
// undefined, 1 tensor; of the others only an optional's sequence (3, in field 5) is.
Sequence read_sequence_proto(std::string_view message, const std::shared_ptr<const void>& owner) {
    Sequence sequence;
    for (Wire wire(message); wire.next();) {
        switch (wire.tag()) {
            case 2:
                if (wire.integer() > 1) throw Unsupported("sequences of anything but tensors are not handled");
                break;
            case 3:
                insert_tensor(sequence, sequence.tensors.size(), read_tensor_values_proto(wire.bytes(), owner).values);
                break;
            case 4:
            case 5:
            case 6:
            case 7:
                throw Unsupported("sequences of anything but tensors are not handled");
            default:
                wire.skip();
        }
    }
    return sequence;
}

Datum read_optional_proto(std::string_view message, const std::shared_ptr<const void>& owner) {
    Datum datum;
    for (Wire wire(message); wire.next();) {
        switch (wire.tag()) {
            case 3:
                datum = read_tensor_datum(wire.bytes(), owner);
                break;
            case 5:
                datum = read_sequence_proto(wire.bytes(), owner);
                break;
            case 4:
            case 6:
            case 7:
                throw Unsupported("optionals of anything but tensors and sequences are not handled");
            default:
                wire.skip();
        }
    }
    return datum;
}

}  // namespace headway
