#include "onnx/proto.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "tensor/wire.h"

namespace headway::proto {
namespace {

void take_item(int64_t& budget) {
    if (--budget < 0) throw UserError("more than " + std::to_string(max_items) + " nodes and values");
}

// Runs `read` and puts `what "name"` before its errors, with the name as it is known by then.
template <class F>
void with_context(const char* what, const std::string_view& name, F&& read) {
    const auto place = [&](const std::string& message) {
        return std::string(what) + " \"" + escaped(name) + "\": " + message;
    };
    try {
        read();
    } catch (const Unsupported& error) {
        throw Unsupported(place(error.what()));
    } catch (const UserError& error) {
        throw UserError(place(error.what()));
    }
}

Dim read_dim(std::string_view bytes) {
    Dim dim{-1, "?"};
    for (Wire wire(bytes); wire.next();) {
        if (wire.tag() == 1) {
            const int64_t extent = wire.integer();
            if (extent >= 0) dim = {extent, ""};  // exporters write -1 for "unknown"
        } else if (wire.tag() == 2) {
            const std::string_view symbol = wire.bytes();
            dim = {-1, symbol.empty() ? "?" : std::string(symbol)};
        } else {
            wire.skip();
        }
    }
    return dim;
}

std::vector<Dim> read_shape(std::string_view bytes, int64_t& budget) {
    std::vector<Dim> dims;
    for (Wire wire(bytes); wire.next();) {
        if (wire.tag() != 1) {
            wire.skip();
            continue;
        }
        take_item(budget);
        dims.push_back(read_dim(wire.bytes()));
    }
    return dims;
}

ElementType read_element_type(int64_t number) {
    const auto type = number > 0 && number < 64 ? static_cast<ElementType>(number) : ElementType::undefined;
    if (to_string(type) == to_string(ElementType::undefined))
        throw Unsupported("element type number " + std::to_string(number) + " is not handled");
    return type;
}

void read_tensor_type(std::string_view bytes, ValueInfo& info, int64_t& budget) {
    bool has_type = false;
    for (Wire wire(bytes); wire.next();) {
        if (wire.tag() == 1) {
            info.type = read_element_type(wire.integer());
            has_type = true;
        } else if (wire.tag() == 2) {
            info.dims = read_shape(wire.bytes(), budget);
        } else {
            wire.skip();
        }
    }
    if (!has_type) throw UserError("a tensor type without an element type");
}

void read_type(std::string_view bytes, ValueInfo& info, int64_t& budget);

// Sequences hold tensors, optionals hold tensors or sequences: deeper nesting is refused before it is read.
void read_container(std::string_view bytes, DeclaredKind kind, ValueInfo& info, int64_t& budget) {
    const bool is_outermost = info.kind == DeclaredKind::tensor;
    if (!is_outermost && !(info.kind == DeclaredKind::optional && kind == DeclaredKind::sequence))
        throw Unsupported("a " + std::string(to_string(kind)) + " inside a " + std::string(to_string(info.kind)) +
                          " is not handled");
    const DeclaredKind declared = is_outermost ? kind : info.kind;
    info.kind = kind;
    for (Wire wire(bytes); wire.next();) {
        if (wire.tag() == 1)
            read_type(wire.bytes(), info, budget);
        else
            wire.skip();
    }
    info.kind = declared;
    info.dims.reset();
}

void read_type(std::string_view bytes, ValueInfo& info, int64_t& budget) {
    for (Wire wire(bytes); wire.next();) {
        switch (wire.tag()) {
            case 1:
                read_tensor_type(wire.bytes(), info, budget);
                break;
            case 4:
                read_container(wire.bytes(), DeclaredKind::sequence, info, budget);
                break;
            case 9:
                read_container(wire.bytes(), DeclaredKind::optional, info, budget);
                break;
            case 5:
            case 8:
                throw Unsupported("map and sparse values are not handled");
            default:
                wire.skip();
        }
    }
}

ValueInfo read_value_info(std::string_view bytes, int64_t& budget) {
    take_item(budget);
    ValueInfo info;
    with_context("value", info.name, [&] {
        for (Wire wire(bytes); wire.next();) {
            if (wire.tag() == 1)
                info.name = wire.bytes();
            else if (wire.tag() == 2)
                read_type(wire.bytes(), info, budget);
            else
                wire.skip();
        }
    });
    return info;
}

void read_attribute_field(Wire& wire, Attribute& attribute, AttributeType& seen) {
    switch (wire.tag()) {
        case 1:
            attribute.name = wire.bytes();
            break;
        case 2:
            attribute.real = wire.real(), seen = AttributeType::real;
            break;
        case 3:
            attribute.integer = wire.integer(), seen = AttributeType::integer;
            break;
        case 4:
            attribute.text = wire.bytes(), seen = AttributeType::text;
            break;
        case 5:
            attribute.tensor = wire.bytes(), seen = AttributeType::tensor;
            break;
        case 6:
            attribute.graph = wire.bytes(), seen = AttributeType::graph;
            break;
        case 7:
            wire.append(attribute.reals), seen = AttributeType::reals;
            break;
        case 8:
            wire.append(attribute.integers), seen = AttributeType::integers;
            break;
        case 9:
            attribute.texts.push_back(wire.bytes()), seen = AttributeType::texts;
            break;
        case 14:
            wire.skip(), seen = AttributeType::type;
            break;
        case 20: {
            const int64_t type = wire.integer();
            if ((type < 1 || type > 8) && type != static_cast<int64_t>(AttributeType::type))
                throw Unsupported("attribute type number " + std::to_string(type) + " is not handled");
            attribute.type = static_cast<AttributeType>(type);
            break;
        }
        case 10:
        case 11:
        case 15:
        case 22:
        case 23:
            throw Unsupported("attributes of lists of tensors, graphs or types, or of sparse tensors are not handled");
        case 21:
            throw Unsupported("references to attributes of a function are not handled");
        default:
            wire.skip();
    }
}

Attribute read_attribute(std::string_view bytes, int64_t& budget) {
    take_item(budget);
    Attribute attribute;
    with_context("attribute", attribute.name, [&] {
        AttributeType seen = AttributeType::undefined;
        for (Wire wire(bytes); wire.next();) {
            read_attribute_field(wire, attribute, seen);
            if (wire.tag() == 9) take_item(budget);
        }
        // files of the first format version have no type field: the value that is there tells
        if (attribute.type == AttributeType::undefined) attribute.type = seen;
        if (attribute.name.empty()) throw UserError("an attribute without a name");
        if (attribute.type == AttributeType::undefined) throw UserError("an attribute without a value");
    });
    return attribute;
}

Node read_node(std::string_view bytes, int64_t& budget) {
    take_item(budget);
    Node node;
    with_context("node", node.name, [&] {
        for (Wire wire(bytes); wire.next();) {
            switch (wire.tag()) {
                case 1:
                    take_item(budget), node.inputs.push_back(wire.bytes());
                    break;
                case 2:
                    take_item(budget), node.outputs.push_back(wire.bytes());
                    break;
                case 3:
                    node.name = wire.bytes();
                    break;
                case 4:
                    node.op = wire.bytes();
                    break;
                case 5:
                    node.attributes.push_back(read_attribute(wire.bytes(), budget));
                    break;
                case 7:
                    node.domain = wire.bytes();
                    break;
                default:
                    wire.skip();
            }
        }
    });
    return node;
}

OpsetImport read_opset(std::string_view bytes) {
    OpsetImport opset;
    for (Wire wire(bytes); wire.next();) {
        if (wire.tag() == 1)
            opset.domain = wire.bytes();
        else if (wire.tag() == 2)
            opset.version = wire.integer();
        else
            wire.skip();
    }
    return opset;
}

}  // namespace

Model read_model(std::string_view bytes) {
    Model model;
    int64_t budget = max_items;
    for (Wire wire(bytes); wire.next();) {
        switch (wire.tag()) {
            case 1:
                model.ir_version = wire.integer();
                break;
            case 2:
                model.producer = wire.bytes();
                break;
            case 7:
                if (model.graph) throw UserError("a model with two graphs");
                model.graph = wire.bytes();
                break;
            case 8:
                take_item(budget);
                model.opsets.push_back(read_opset(wire.bytes()));
                break;
            case 25:
                model.has_functions = true;
                wire.skip();
                break;
            default:
                wire.skip();
        }
    }
    return model;
}

Graph read_graph(std::string_view bytes, int64_t& budget) {
    Graph graph;
    for (Wire wire(bytes); wire.next();) {
        switch (wire.tag()) {
            case 1:
                graph.nodes.push_back(read_node(wire.bytes(), budget));
                break;
            case 5:
                take_item(budget);
                graph.initializers.push_back(wire.bytes());
                break;
            case 11:
                graph.inputs.push_back(read_value_info(wire.bytes(), budget));
                break;
            case 12:
                graph.outputs.push_back(read_value_info(wire.bytes(), budget));
                break;
            case 13:
                graph.inner.push_back(read_value_info(wire.bytes(), budget));
                break;
            case 15:
                throw Unsupported("sparse initialisers are not handled");
            default:
                wire.skip();
        }
    }
    return graph;
}

}  // namespace headway::proto
