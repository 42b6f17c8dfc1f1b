// Workspaces as data: which panels are where. Dear ImGui keeps what the reader makes of them.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace peel::app {

constexpr int kLayoutVersion = 5;  // raise it when a default below changes: kept layouts are then rebuilt

/// One cut of the window: part number `of` gives its `side` (l r u d), `share` of its size, to a new part.
struct Cut { int of; char side; float share; };
struct Place { int part; const char* panel; };
struct Workspace {
  const char* name;
  const char* needs;              // panel without which it is not offered
  std::span<const Cut> cuts;      // part 0 is the whole; what is left of it takes the space when the window grows
  std::span<const Place> places;  // in one part: tabs, the first in front
};
std::span<const Workspace> workspaces();
const Workspace* workspace(const std::string& name);

/// The ImGui window of a panel in a workspace: "Why", or "Why###Why@Autograd" where it is not the first workspace.
std::string window_name(const std::string& panel, const Workspace&);
unsigned dock_id(const Workspace&);
/// Cuts the workspace's dock space anew, of the given size in pixels.
void build_layout(const Workspace&, float width, float height);
bool layout_exists(const Workspace&);

}  // namespace peel::app
