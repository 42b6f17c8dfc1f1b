// What may be changed at the hop where a program stands: the choices of the Breakpoints panel's Change popup.
#pragma once
#include <string>
#include <vector>

#include "sessions/live.h"
#include "sessions/session.h"

namespace peel::views {

struct ChangeChoice {
  std::string text;  // as the program is told: `exclude AutogradCPU`
  std::string note;  // "goes to CPU: kernel, RegisterCPU.cpp:41"
};
/// Those that make sense there, by the hop's set and the operator's table. Empty: only the thread's sets can be changed.
std::vector<ChangeChoice> change_choices(const Session&, const Stop&);

}  // namespace peel::views
