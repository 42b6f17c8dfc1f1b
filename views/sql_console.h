// The SQL console of the Query panel: a text, a result, examples, history. Queries run on a worker thread with a
// time limit and can be cancelled.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "views/background.h"
#include "views/context.h"
#include "views/pen.h"
#include "views/query_model.h"

namespace peel::views {

class SqlConsole {
 public:
  void forget();                       // another session
  bool busy() const { return work_.busy(); }
  std::string copy_text() const { return answer_ ? table_text(answer_->table, CopyAs::kTabs) : ""; }
  void draw(Context&, const Area&);

 private:
  struct Answer {
    std::string sql, error;
    QueryTable table;
  };
  void run(const Context&);
  void draw_menus(const Area&, float y);
  void draw_result(Context&, const Area&);
  void draw_copy_menu();

  std::string text_ = "SELECT kind, key, count(*) AS hops FROM hop GROUP BY kind, key ORDER BY hops DESC";
  std::vector<std::string> history_;   // newest first
  Background<Answer> work_;
  std::optional<Answer> answer_;
  int hop_column_ = -1;
  double started_ = 0;
};

}  // namespace peel::views
