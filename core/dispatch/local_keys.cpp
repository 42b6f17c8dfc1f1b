#include "core/dispatch/local_keys.h"

namespace peel::core {

void set_key_included(DispatchKey k, bool on) {
  const LocalKeys l = local_keys();
  set_local_keys({on ? l.included | k : l.included - k, l.excluded});
}

void set_key_excluded(DispatchKey k, bool on) {
  const LocalKeys l = local_keys();
  set_local_keys({l.included, on ? l.excluded | k : l.excluded - k});
}

}  // namespace peel::core
