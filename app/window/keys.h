// Names of keys, and which of them a text field keeps for itself.
#pragma once
#include <string>

#include "views/command.h"

namespace peel::app {

std::string chord_text(views::Chord);              // "Ctrl+Shift+P"
std::string keys_text(const views::Command&);      // "I, F11"; "" = none
std::string first_key(const views::Command*);      // "I"; "" = none
/// May this chord run a command while a text field has the focus? Letters and editing keys belong to the field.
bool passes_text_field(views::Chord);

}  // namespace peel::app
