// The reference of an operator as a kernel, so that every operator runs where no fast kernel exists. Each Op makes its
// kernel in its own constructor: declared<Op>() and declared<Kernel>() therefore see the same operators whatever the
// order of static initialisation.
//
// The kernel takes plain layouts and no epilogue, and computes in one tile. Problem::op is the operator's qualified
// name; a dst of type `undefined` (null pointer in Args) is an output that nobody reads. Constants are packed as they
// are.
#pragma once

#include <memory>

#include "kernels/kernel.h"

namespace headway {

class Op;

std::unique_ptr<const Kernel> make_reference_kernel(const Op& op);

}  // namespace headway
