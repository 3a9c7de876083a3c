#include "ops/elementwise.h"

namespace headway {
namespace {

Shape broadcast_of_all(const InferContext& context) {
    Shape shape = context.shape(0);
    for (size_t i = 1; i < context.input_count(); ++i) shape = broadcast(shape, context.shape(i));
    return shape;
}

}  // namespace

void require_same_types(const InferContext& context) {
    for (size_t i = 1; i < context.input_count(); ++i)
        if (context.has(i) && context.type(i) != context.type(0))
            throw UserError("its inputs have different types (" + std::string(to_string(context.type(0))) + " and " +
                            std::string(to_string(context.type(i))) + ")");
}

void infer_same(InferContext& context) { context.set_output(0, context.type(0), context.shape(0)); }

void infer_broadcast(InferContext& context) {
    require_same_types(context);
    context.set_output(0, context.type(0), broadcast_of_all(context));
}

void infer_broadcast_boolean(InferContext& context) {
    require_same_types(context);
    context.set_output(0, ElementType::boolean, broadcast_of_all(context));
}

void infer_boolean(InferContext& context) { context.set_output(0, ElementType::boolean, context.shape(0)); }

}  // namespace headway
