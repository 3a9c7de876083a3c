#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/strided.h"

namespace headway {
namespace {

int64_t block_size(const Attributes& attributes) {
    const int64_t block = attributes.integer("blocksize", 0);
    if (block < 1 || block > (int64_t{1} << 20)) throw UserError("attribute blocksize holds " + std::to_string(block));
    return block;
}

bool channels_first(const Attributes& attributes) {
    const std::string mode = attributes.text("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") throw UserError("attribute mode has an unknown value");
    return mode == "CRD";
}

void require_image(const Shape& shape) {
    if (shape.rank() != 4) throw UserError("its input has rank " + std::to_string(shape.rank()) + ", not 4");
}

void infer_depth_to_space(InferContext& context) {
    const Shape& x = context.shape(0);
    require_image(x);
    const int64_t block = block_size(context.attributes());
    channels_first(context.attributes());
    if (x[1] % (block * block) != 0) throw UserError("its channels do not divide into blocks");
    context.set_output(
        0, context.type(0),
        Shape{x[0], x[1] / (block * block), checked_mul(x[2], block, "height"), checked_mul(x[3], block, "width")});
}

// Walks n, c, h, block row, w, block column: the order in which the output lies.
void depth_to_space_reference(const ReferenceContext& context) {
    const Shape& x = context.in(0).shape();
    const int64_t block = block_size(context.attributes);
    const int64_t channels = x[1] / (block * block);
    const int64_t plane = x[2] * x[3];
    const bool first = channels_first(context.attributes);
    const Shape walk{x[0], channels, x[2], block, x[3], block};
    const int64_t channel = first ? block * block * plane : plane;
    const int64_t in_block = first ? plane : channels * plane;
    strided_copy(context.in(0), 0, {x[1] * plane, channel, x[3], block * in_block, 1, in_block}, context.out(0), 0,
                 walk.strides(), walk);
}

void infer_space_to_depth(InferContext& context) {
    const Shape& x = context.shape(0);
    require_image(x);
    const int64_t block = block_size(context.attributes());
    if (x[2] % block != 0 || x[3] % block != 0) throw UserError("its height or width does not divide into blocks");
    context.set_output(0, context.type(0),
                       Shape{x[0], checked_mul(x[1], block * block, "channels"), x[2] / block, x[3] / block});
}

// Walks n, block row, block column, c, h, w: the order in which the output lies.
void space_to_depth_reference(const ReferenceContext& context) {
    const Shape& x = context.in(0).shape();
    const int64_t block = block_size(context.attributes);
    const Shape walk{x[0], block, block, x[1], x[2] / block, x[3] / block};
    strided_copy(context.in(0), 0, {x[1] * x[2] * x[3], x[3], 1, x[2] * x[3], block * x[3], block}, context.out(0), 0,
                 walk.strides(), walk);
}

}  // namespace

const Op depth_to_space_op{{
    .name = "DepthToSpace",
    .since = {1, 11, 13},
    .types = fixed_size_types | string_type,
    .attributes = {{"blocksize", "int", "", "side of the blocks"},
                   {"mode", "string", "DCR", "DCR: the block index is the outer part of the channel; CRD: the inner"}},
    .infer = infer_depth_to_space,
    .reference = depth_to_space_reference,
    .data_movement = true,
    .help = "Channels moved into blocks of pixels.",
}};

const Op space_to_depth_op{{
    .name = "SpaceToDepth",
    .since = {1, 13},
    .types = fixed_size_types | string_type,
    .attributes = {{"blocksize", "int", "", "side of the blocks"}},
    .infer = infer_space_to_depth,
    .reference = space_to_depth_reference,
    .data_movement = true,
    .help = "Blocks of pixels moved into channels.",
}};

}  // namespace headway
