// Writing one JSON object a line (`--json`).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace peel::app {

/// Quoted, with what JSON wants escaped; bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view);

/// Builds `{"a":1,"b":"x"}` in the order of the calls.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) { return raw(name, json_text(value)); }
  JsonObject& number(std::string_view name, int64_t value) { return raw(name, std::to_string(value)); }
  JsonObject& boolean(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  JsonObject& null(std::string_view name) { return raw(name, "null"); }
  /// `json` is put in as it is.
  JsonObject& raw(std::string_view name, std::string_view json) {
    text_ += text_.empty() ? "{" : ",";
    text_ += json_text(name);
    text_ += ':';
    text_ += json;
    return *this;
  }
  std::string done() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace peel::app
