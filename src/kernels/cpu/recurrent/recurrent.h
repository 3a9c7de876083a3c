// LSTM, GRU and RNN with weights packed once: step by step, or with the input's products of many steps made at once.
#pragma once

#include <string>

#include "kernels/cpu/gemm/micro.h"
#include "kernels/cpu/recurrent/recurrent_ops.h"
#include "kernels/kernel.h"

namespace headway {

enum class RecurrentAlgorithm : uint8_t { step, sequence };

Kernel::Fields recurrent_fields(RecurrentAlgorithm algorithm, const std::string& isa_word, Isa isa,
                                const RecurrentOps& (*ops)(), const GemmMicro& micro);

}  // namespace headway
