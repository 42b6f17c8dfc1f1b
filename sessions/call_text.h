// One hop in the forms in which people pass it on: words, Markdown for an issue report, SQL that selects it, and a Python
// program that repeats the call.
#pragma once
#include <string>
#include <string_view>

#include "sessions/session.h"

namespace peel {

enum class CallForm : uint8_t { kText, kMarkdown, kSql, kPython };
/// `text`, `markdown`, `sql`, `python`.
const char* call_form_name(CallForm);

/// Error: a sentence saying what stands against it (only kPython can fail on a hop that exists).
Result<std::string> call_text(const Session&, EventId, CallForm);

/// The hop whose call `e` is a layer of: itself when it is a call; 0 when it is no operator's.
EventId call_of(const Session&, EventId e);
/// A program for stock PyTorch that makes arguments as they were described, sets up the modes of that moment and calls the
/// operator through torch.ops. Contents are random or constant: a recording holds descriptions.
Result<std::string> call_program(const Session&, EventId);

}  // namespace peel
