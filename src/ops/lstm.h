// What LSTM and its form with quantised weights share.
#pragma once

#include <vector>

#include "ops/recurrent.h"

namespace headway {

inline constexpr int64_t lstm_gates = 4;

// One step of one sequence, by the attributes activations, clip and input_forget.
RecurrentUpdate lstm_update(const Attributes& attributes, const Recurrent& sizes);

std::vector<AttributeDoc> lstm_attributes();

}  // namespace headway
