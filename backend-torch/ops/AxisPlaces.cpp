// Dimensions dealt out to the axes of patterns.
#include "backend-torch/ops/AxisPlaces.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace quern {

using DimensionLists = std::vector<std::vector<int>>;

/// How many dimensions each axis stands for: -1 for a pack that is open.
static std::vector<int>
countsOf(const std::vector<AxisPattern> &axes,
         const std::map<std::string, std::vector<int>> &known) {
  std::vector<int> counts;
  for (const AxisPattern &axis : axes) {
    auto it = known.find(axis.name);
    counts.push_back(it != known.end() ? static_cast<int>(it->second.size())
                     : axis.isPack     ? -1
                                       : 1);
  }
  return counts;
}

/// Deals dimensions out in order; the only open pack takes what is left.
static std::optional<DimensionLists> dealOut(const std::vector<int> &counts,
                                             const std::vector<int> &dims) {
  int left = static_cast<int>(dims.size()), open = 0;
  for (int count : counts)
    count < 0 ? void(++open) : void(left -= count);
  if (open > 1 || left < 0 || (open == 0 && left != 0))
    return std::nullopt;
  DimensionLists lists;
  auto next = dims.begin();
  for (int count : counts) {
    auto end = next + (count < 0 ? left : count);
    lists.emplace_back(next, end);
    next = end;
  }
  return lists;
}

bool AxisPlaces::spread(const std::vector<AxisPattern> &axes,
                        const std::vector<int> &dims) {
  std::optional<DimensionLists> lists = dealOut(countsOf(axes, {}), dims);
  if (!lists)
    return false;
  for (std::size_t i = 0; i != axes.size(); ++i) {
    if (axes[i].isPack)
      packPlaces[axes[i].name] = (*lists)[i];
    if (!axes[i].name.empty())
      places[axes[i].name] = (*lists)[i];
  }
  return true;
}

static bool hasPack(const std::vector<AxisPattern> &axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [](const AxisPattern &each) { return each.isPack; });
}

std::optional<AxisPlaces> AxisPlaces::find(const TypePattern &pattern,
                                           std::size_t rank,
                                           const std::string &axis,
                                           const std::vector<int> &selected) {
  AxisPlaces result;
  result.isChosen = true;
  result.rank = rank;
  result.chosenIn = pattern.axes;
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
    fits = result.spread(before, rest);
  }
  if (!fits)
    return std::nullopt;
  return result;
}

/// Known axes at their places, the others at the free dimensions in order.
std::optional<DimensionLists>
AxisPlaces::place(const TypePattern &pattern, const std::map<int, int> &number,
                  const std::vector<int> &free) const {
  DimensionLists result;
  auto next = free.begin();
  for (const AxisPattern &axis : pattern.axes) {
    std::vector<int> own;
    auto it = places.find(axis.name);
    if (it != places.end()) {
      for (int d : it->second)
        own.push_back(number.at(d));
    } else if (axis.isPack) { // The only one without a place.
      own.assign(next, free.end());
      next = free.end();
    } else if (next != free.end()) {
      own.push_back(*next++);
    } else if (rank != 0) {
      return std::nullopt;
    }
    // The axis that a 0-d tensor lacks.
    if (!axis.isPack && own.empty())
      own.push_back(-1);
    result.push_back(std::move(own));
  }
  bool hasOther = std::any_of(
      pattern.axes.begin(), pattern.axes.end(),
      [&](const AxisPattern &axis) { return !places.contains(axis.name); });
  if (hasOther && next != free.end())
    return std::nullopt;
  return result;
}

static std::vector<int> firstNumbers(std::size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// A tensor of the same form with axes of its own, `[*S, N]` beside `[*R, C]`:
/// the call's `dim` is its dimension too.
std::optional<DimensionLists>
AxisPlaces::likeChosen(const TypePattern &pattern) const {
  DimensionLists lists;
  if (pattern.axes.size() != chosenIn.size())
    return std::nullopt;
  for (std::size_t i = 0; i != chosenIn.size(); ++i) {
    auto it = places.find(chosenIn[i].name);
    if (pattern.axes[i].isPack != chosenIn[i].isPack || it == places.end() ||
        (it->second.empty() && !chosenIn[i].isPack))
      return std::nullopt;
    lists.push_back(it->second);
  }
  return lists;
}

std::optional<DimensionLists>
AxisPlaces::dimensions(const TypePattern &pattern, std::size_t ownRank,
                       const std::function<bool(int)> &isOne) const {
  std::set<int> covered;
  std::size_t known = 0;
  for (const AxisPattern &axis : pattern.axes)
    if (auto it = places.find(axis.name); it != places.end()) {
      ++known;
      covered.insert(it->second.begin(), it->second.end());
    }
  std::vector<int> all = firstNumbers(ownRank);
  if (isChosen && known == 0 && ownRank == rank)
    if (std::optional<DimensionLists> lists = likeChosen(pattern))
      return lists;
  if (!isChosen || (known == 0 && !pattern.axes.empty()))
    return dealOut(countsOf(pattern.axes, {}), all);
  std::vector<int> counts = countsOf(pattern.axes, places);
  bool isOpen = std::find(counts.begin(), counts.end(), -1) != counts.end();
  if (isOpen && (ownRank != rank || known + 1 != pattern.axes.size()))
    return dealOut(counts, all);
  bool allKnown = known == pattern.axes.size();
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
  return place(pattern, number, free);
}

} // namespace quern
