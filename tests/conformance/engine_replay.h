// Programs on the embedded engine for the tests against stock.
#pragma once

namespace peel::core {

void grad_modes();
void train_step();
/// Commands from standard input; see engine_script.cpp.
void script();

}  // namespace peel::core
