// Packed constants of an engine from a file: kernels trust them to be what pack() returns.
#pragma once

#include "kernels/kernel.h"
#include "runtime/plan.h"

namespace headway {

// UserError naming the first step whose packed constants have not the number and sizes that its kernel makes from
// constants of the problem's shapes. Steps of unknown kernels are left to Engine::make.
void check_packed(const Plan& plan, const Target& target, const Registry<Kernel>& kernels);

}  // namespace headway
