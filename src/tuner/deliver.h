// The end of a session: the engine in its place, with its certificate; the result in the log; losers' files deleted.
#pragma once

#include <string>

#include "tuner/ruling.h"

namespace headway {

// Delivers the winner of the ruling, or the default engine `reference`. `arena` is null when nothing was measured.
TuneResult deliver(Session& session, const Arena* arena, Trials& trials, const Ruling& ruling,
                   const std::string& reference);

}  // namespace headway
