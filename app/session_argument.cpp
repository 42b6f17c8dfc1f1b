#include "app/session_argument.h"

#include <utility>

#include "app/console.h"

namespace peel::app {

std::unique_ptr<Session> open_session(const std::string& path) {
  Result<std::unique_ptr<Session>> session = Session::open(path, true);
  if (!session) {
    fail(session.error());
    return nullptr;
  }
  if (const std::string trouble = (*session)->trouble(); !trouble.empty()) say(trouble);
  return std::move(*session);
}

EventId hop_argument(const Session& session, long long number) {
  if (number >= 1 && number <= session.size()) return EventId(static_cast<uint32_t>(number));
  if (session.size() == 0) fail(session.path() + " holds no hops");
  else fail("there is no hop " + std::to_string(number) + " in " + session.path() + ": it has hops 1 to " + std::to_string(session.size()));
  return EventId();
}

// argv is a JSON array of texts, as recording.cpp writes it.
std::vector<std::string> argv_of(const Session& session) {
  const std::string json = session.meta("argv");
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!inside) {
      inside = c == '"';
    } else if (c == '"') {
      words.push_back(std::exchange(word, {}));
      inside = false;
    } else if (c == '\\' && i + 1 < json.size()) {
      const char e = json[++i];
      word += e == 'n' ? '\n' : e == 't' ? '\t' : e == 'r' ? '\r' : e;
    } else {
      word += c;
    }
  }
  return words;
}

std::string command_text(const Session& session) {
  std::string text;
  for (const std::string& word : argv_of(session)) {
    const bool quote = word.empty() || word.find_first_of(" \t\n'\"") != std::string::npos;
    text += (text.empty() ? "" : " ") + (quote ? "'" + word + "'" : word);
  }
  return text.empty() ? session.meta("program") : text;
}

}  // namespace peel::app
