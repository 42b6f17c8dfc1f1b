// Opening the session file that a command names.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel::app {

/// Opens and loads it whole; null after a message on stderr.
std::unique_ptr<Session> open_session(const std::string& path);

/// Hop `number` if the session has it; none after a message on stderr.
EventId hop_argument(const Session&, long long number);

/// The program and its arguments as they were given; empty: not recorded.
std::vector<std::string> argv_of(const Session&);
/// `/home/ada/train.py --epochs 3`: how the program was called.
std::string command_text(const Session&);

}  // namespace peel::app
