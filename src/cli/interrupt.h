// Ctrl-C as the user means it: the first one ends the work in good order, the second one the program.
#pragma once

#include <atomic>
#include <initializer_list>

namespace headway {

// Becomes true with the first of these signals (at most four); all of them then do again what they do by default.
const std::atomic<bool>& stop_on(std::initializer_list<int> signals);

}  // namespace headway
