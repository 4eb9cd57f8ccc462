// Dimensions dealt out to the axes of patterns.
#include "backend-torch/ops/AxisPlaces.h"

#include <algorithm>
#include <set>

namespace quern {

/// Deals dimensions out in order: one to a name, the rest to the only pack.
bool AxisPlaces::spread(std::vector<AxisPattern> axes, std::vector<int> dims) {
  std::size_t names = 0, packs = 0;
  for (const AxisPattern &axis : axes)
    ++(axis.isPack ? packs : names);
  bool fits = packs == 0 ? dims.size() == names : dims.size() >= names;
  if (packs > 1 || !fits)
    return false;
  auto next = dims.begin();
  for (const AxisPattern &axis : axes) {
    auto count = axis.isPack ? static_cast<std::ptrdiff_t>(dims.size() - names)
                             : std::ptrdiff_t(1);
    std::vector<int> own(next, next + count);
    next += count;
    if (axis.isPack)
      packPlaces[axis.name] = own;
    if (!axis.name.empty())
      places[axis.name] = std::move(own);
  }
  return true;
}

std::optional<AxisPlaces> AxisPlaces::find(const TypePattern &pattern,
                                           std::size_t rank,
                                           const std::string &axis,
                                           const std::vector<int> &selected) {
  AxisPlaces result;
  result.rank = rank;
  std::vector<AxisPattern> before, after;
  bool isPack = false, found = false;
  for (const AxisPattern &each : pattern.axes) {
    if (each.name == axis) {
      found = true;
      isPack = each.isPack;
      continue;
    }
    (found ? after : before).push_back(each);
  }
  result.places[axis] = selected;
  if (isPack)
    result.packPlaces[axis] = selected;
  auto hasPack = [](const std::vector<AxisPattern> &axes) {
    return std::any_of(axes.begin(), axes.end(),
                       [](const AxisPattern &each) { return each.isPack; });
  };
  std::vector<int> rest, low, high;
  for (int d = 0; d != static_cast<int>(rank); ++d) {
    if (std::find(selected.begin(), selected.end(), d) != selected.end())
      continue;
    rest.push_back(d);
    (selected.empty() || d < selected.front() ? low : high).push_back(d);
  }
  bool fits;
  if (hasPack(before) && hasPack(after)) {
    fits = result.spread(before, low) && result.spread(after, high);
  } else {
    before.insert(before.end(), after.begin(), after.end());
    // A 0-d tensor stands for one with an axis of extent 1.
    fits = result.spread(before, rest);
  }
  if (!fits)
    return std::nullopt;
  return result;
}

std::optional<std::vector<int>>
AxisPlaces::order(const TypePattern &pattern, std::size_t ownRank,
                  const std::function<bool(int)> &isOne) const {
  std::set<int> covered;
  std::size_t known = 0;
  for (const AxisPattern &axis : pattern.axes)
    if (auto it = places.find(axis.name); it != places.end()) {
      ++known;
      covered.insert(it->second.begin(), it->second.end());
    }
  bool allKnown = known == pattern.axes.size();
  std::vector<int> all;
  for (int d = 0; d != static_cast<int>(ownRank); ++d)
    all.push_back(d);
  if (known == 0 && !pattern.axes.empty())
    return all;
  // Dimensions of this tensor by those of the one that has the chosen axis.
  std::map<int, int> number;
  std::vector<int> free;
  if (ownRank == rank) {
    for (int d : all) {
      number[d] = d;
      if (!covered.contains(d))
        free.push_back(d);
    }
    if (allKnown && !std::all_of(free.begin(), free.end(), isOne))
      return std::nullopt;
  } else if (allKnown && covered.size() == ownRank) {
    for (int d : covered)
      number.emplace(d, static_cast<int>(number.size()));
  } else {
    return std::nullopt;
  }
  std::vector<int> result;
  std::size_t next = 0;
  for (const AxisPattern &axis : pattern.axes) {
    auto it = places.find(axis.name);
    if (it != places.end()) {
      for (int d : it->second)
        result.push_back(number.at(d));
      // The axis that a 0-d tensor lacks.
      if (!axis.isPack && it->second.empty())
        result.push_back(-1);
      continue;
    }
    if (axis.isPack)
      return std::nullopt;
    if (next == free.size() && rank != 0)
      return std::nullopt;
    result.push_back(next == free.size() ? -1 : free[next++]);
  }
  if (!allKnown && next != free.size())
    return std::nullopt;
  return result;
}

} // namespace quern
