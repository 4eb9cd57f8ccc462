// Byte ranges first, then a bounded search over the strides.
#include "jit/bind/Overlap.h"

#include <algorithm>
#include <cstdlib>

using namespace quern;
using namespace quern::jit;

namespace {

/// A term `stride * i` of an address, 0 <= i < extent.
struct Term {
  std::int64_t stride, extent;
};
using Terms = llvm::SmallVector<Term, 8>;

/// The same sums in fewer terms: one whose steps the next smaller one fills
/// lengthens that. Two operands that lie alike have every stride twice.
Terms folded(Terms terms) {
  llvm::sort(terms, [](Term a, Term b) { return a.stride < b.stride; });
  Terms result;
  for (const Term &term : terms) {
    Term *smaller = result.empty() ? nullptr : &result.back();
    if (smaller && term.stride % smaller->stride == 0 &&
        term.stride / smaller->stride <= smaller->extent)
      smaller->extent += (term.extent - 1) * (term.stride / smaller->stride);
    else
      result.push_back(term);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

/// Whether sum(stride * i) can lie in [low, high]; terms by falling stride.
class Search {
public:
  explicit Search(Terms given) : terms(folded(std::move(given))) {
    reach.resize(terms.size() + 1, 0);
    for (std::size_t i = terms.size(); i-- > 0;)
      reach[i] = reach[i + 1] + terms[i].stride * (terms[i].extent - 1);
  }

  bool hits(std::size_t at, std::int64_t low, std::int64_t high) {
    if (high < 0 || low > reach[at])
      return false;
    if (low <= 0 || at == terms.size() || budget-- <= 0)
      return true;
    const Term &term = terms[at];
    // Only counts that leave a rest the smaller strides can reach.
    std::int64_t first = std::max<std::int64_t>(
        0, (low - reach[at + 1] + term.stride - 1) / term.stride);
    std::int64_t last = std::min(term.extent - 1, high / term.stride);
    for (std::int64_t i = first; i <= last; ++i)
      if (hits(at + 1, low - term.stride * i, high - term.stride * i))
        return true;
    return false;
  }

private:
  Terms terms;
  llvm::SmallVector<std::int64_t, 9> reach;
  int budget = 256;
};

/// Adds an operand's terms with positive strides; returns what turning the
/// negative ones round added to the address.
std::int64_t addTerms(const Operand &operand, int sign, Terms &terms) {
  std::int64_t shift = 0, width = bytesOf(operand.type);
  for (auto [size, stride] : llvm::zip_equal(operand.sizes, operand.strides)) {
    std::int64_t step = sign * stride * width;
    if (size <= 1 || step == 0)
      continue;
    if (step < 0) {
      shift += step * (size - 1);
      step = -step;
    }
    terms.push_back({step, size});
  }
  return shift;
}

} // namespace

ByteRange quern::jit::byteRange(const Operand &operand) {
  std::int64_t width = bytesOf(operand.type);
  ByteRange range{0, width};
  for (auto [size, stride] : llvm::zip_equal(operand.sizes, operand.strides)) {
    if (size == 0)
      return {0, 0};
    (stride < 0 ? range.low : range.high) += stride * (size - 1) * width;
  }
  return range;
}

bool quern::jit::overlapsItself(const Operand &operand) {
  if (byteRange(operand).isEmpty())
    return false;
  Terms terms;
  for (auto [size, stride] : llvm::zip_equal(operand.sizes, operand.strides))
    if (size > 1)
      terms.push_back({std::abs(stride), size});
  llvm::sort(terms, [](Term a, Term b) { return a.stride < b.stride; });
  // Every stride steps over all that the smaller ones reach.
  std::int64_t reach = 0;
  for (const Term &term : terms) {
    if (term.stride <= reach)
      return true;
    reach += term.stride * (term.extent - 1);
  }
  return false;
}

bool quern::jit::overlaps(const Operand &a, const Operand &b,
                          std::int64_t distance) {
  ByteRange first = byteRange(a), second = byteRange(b);
  if (first.isEmpty() || second.isEmpty() ||
      first.high <= distance + second.low ||
      distance + second.high <= first.low)
    return false;
  // a + sum_a - (b + sum_b) must lie in (-width of a, width of b).
  Terms terms;
  std::int64_t shift = addTerms(a, 1, terms) + addTerms(b, -1, terms);
  std::int64_t low = distance - shift - bytesOf(a.type) + 1;
  std::int64_t high = distance - shift + bytesOf(b.type) - 1;
  return Search(std::move(terms)).hits(0, low, high);
}

bool quern::jit::sameLayout(const Operand &a, const Operand &b) {
  return bytesOf(a.type) == bytesOf(b.type) && a.sizes == b.sizes &&
         a.strides == b.strides;
}
