// LSTM with weights packed once, for one step or many.
#pragma once

#include "kernels/cpu/recurrent/lstm_ops.h"
#include "kernels/kernel.h"

namespace headway {

Kernel::Fields lstm_fields(const std::string& isa_word, Isa isa, const LstmOps& (*ops)());

}  // namespace headway
