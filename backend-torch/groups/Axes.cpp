// Unification and splitting of axes.
#include "backend-torch/groups/Axes.h"

namespace quern {

Dimension AxisTable::fresh(Size extent) {
  if (sizes->constantOf(extent) == 1)
    return {};
  atoms.push_back({.extent = extent, .same = -1, .parts = {}});
  return {static_cast<Atom>(atoms.size() - 1)};
}

Atom AxisTable::root(Atom atom) const {
  while (atoms[atom].same >= 0)
    atom = atoms[atom].same;
  return atom;
}

void AxisTable::resolve(Atom atom, Dimension &into) const {
  atom = root(atom);
  if (atoms[atom].parts.empty()) {
    into.push_back(atom);
    return;
  }
  for (Atom part : atoms[atom].parts)
    resolve(part, into);
}

Dimension AxisTable::resolve(const Dimension &dimension) const {
  Dimension result;
  for (Atom atom : dimension)
    resolve(atom, result);
  return result;
}

bool AxisTable::join(Atom a, Atom b) {
  atoms[a].isWhole |= atoms[b].isWhole;
  atoms[b].same = a;
  return true;
}

std::optional<std::pair<Atom, Atom>> AxisTable::split(Atom atom, Size outer) {
  std::optional<Size> inner = sizes->divideExactly(atoms[atom].extent, outer);
  if (!inner || atoms[atom].isWhole)
    return std::nullopt;
  auto first = static_cast<Atom>(atoms.size());
  atoms.push_back({.extent = outer, .same = -1, .parts = {}});
  atoms.push_back({.extent = *inner, .same = -1, .parts = {}});
  atoms[atom].parts = {first, first + 1};
  return std::pair(first, first + 1);
}

bool AxisTable::unify(const Dimension &first, const Dimension &second) {
  Dimension a = resolve(first), b = resolve(second);
  while (!a.empty() && !b.empty()) {
    Atom x = a.front(), y = b.front();
    a.erase(a.begin());
    b.erase(b.begin());
    if (x == y)
      continue;
    if (atoms[x].extent == atoms[y].extent) {
      if (!join(x, y))
        return false;
    } else if (auto parts = split(x, atoms[y].extent)) {
      join(parts->first, y);
      a.insert(a.begin(), parts->second);
    } else if (auto parts = split(y, atoms[x].extent)) {
      join(parts->first, x);
      b.insert(b.begin(), parts->second);
    } else {
      return false;
    }
    // What was split may stand further on in either list.
    a = resolve(a);
    b = resolve(b);
  }
  return a.empty() && b.empty();
}

std::optional<Dimensions> AxisTable::reshape(const Dimensions &from,
                                             std::span<const Size> to) {
  Dimension rest;
  for (const Dimension &dimension : from)
    for (Atom atom : resolve(dimension))
      rest.push_back(atom);
  Dimensions result;
  std::size_t next = 0;
  for (Size wanted : to) {
    Dimension taken;
    while (sizes->constantOf(wanted) != 1) {
      if (next == rest.size())
        return std::nullopt;
      Atom atom = rest[next++];
      if (std::optional<Size> left =
              sizes->divideExactly(wanted, atoms[atom].extent)) {
        taken.push_back(atom);
        wanted = *left;
        continue;
      }
      auto parts = split(atom, wanted);
      if (!parts)
        return std::nullopt;
      taken.push_back(parts->first);
      rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(next),
                  parts->second);
      wanted = sizes->constant(1);
    }
    result.push_back(std::move(taken));
  }
  if (next != rest.size())
    return std::nullopt;
  return result;
}

bool AxisTable::keepWhole(const Dimension &dimension) {
  Dimension resolved = resolve(dimension);
  if (resolved.size() > 1)
    return false;
  for (Atom atom : resolved)
    atoms[atom].isWhole = true;
  return true;
}

} // namespace quern
