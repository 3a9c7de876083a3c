// Running one operator on tensors: the steps that run_reference, interpret and the `ref.<Op>` kernels share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace headway {

// "node 'conv1' (Conv)".
std::string describe(const Node& node);

// Calls f; a UserError or Unsupported from it is thrown on with the node's name in front.
template <class F>
auto naming(const Node& node, F&& f) {
    try {
        return std::forward<F>(f)();
    } catch (const Unsupported& error) {
        throw Unsupported(describe(node) + ": " + error.what());
    } catch (const UserError& error) {
        throw UserError(describe(node) + ": " + error.what());
    }
}

// What stands at `place` ("input") number `index` as a tensor; UserError when it is something else.
const Tensor& tensor_of(const Datum& datum, const char* place, size_t index);
// The same where strings are as good as numbers.
TensorValues values_of(const Datum& datum, const char* place, size_t index);

// UserError when the operator does not allow this many.
void check_counts(const Op& op, size_t inputs, size_t outputs);

// Runs the shape rule after checking the numbers of inputs and outputs and the first input's type.
void run_infer(const Op& op, InferContext& context);

// Types and shapes of a node's outputs for concrete inputs (nullptr where absent).
std::vector<std::optional<TensorDesc>> infer_outputs(const Op& op, const Node& node,
                                                     std::span<const Tensor* const> inputs);

}  // namespace headway
