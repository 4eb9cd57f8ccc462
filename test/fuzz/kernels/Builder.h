// Draws expressions and declarations of one program.
#pragma once

#include "test/fuzz/kernels/Term.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace quern::fuzz {

/// An axis of a `rowwise`: a name and its extents, several for a pack.
struct Axis {
  std::string name;
  std::vector<std::int64_t> extents;
  bool isPack = false;

  std::int64_t count() const {
    std::int64_t product = 1;
    for (std::int64_t extent : extents)
      product *= extent;
    return product;
  }
  std::string spelled() const { return (isPack ? "*" : "") + name; }
};

/// A `fn` or `reduction` of the text that expressions may call.
struct Callable {
  std::string name;
  std::vector<ElementType> parameters;
  ElementType result = ElementType::F32;
  bool takesPosition = false;
};

class Builder {
public:
  explicit Builder(Choices &choices) : choices(choices) {}

  /// A value of type `type` over some of the axes `allowed`.
  Term expression(ElementType type, AxisBits allowed, unsigned depth);

  Program elementwise();
  Program rowwise();

private:
  // Scalars.cpp
  Term leaf(ElementType type, AxisBits allowed);
  Term literal(ElementType type);
  Term binary(ElementType type, AxisBits allowed, unsigned depth);
  Term unary(ElementType type, AxisBits allowed, unsigned depth);
  Term floatFunction(ElementType type, AxisBits allowed, unsigned depth);
  Term castOf(ElementType type, AxisBits allowed, unsigned depth);
  Term conditional(ElementType type, AxisBits allowed, unsigned depth);
  Term comparison(AxisBits allowed, unsigned depth);
  Term callOf(ElementType type, AxisBits allowed, unsigned depth);
  Term cast(Term operand, ElementType to, ElementType written);
  ElementType anyType();

  // Axes.cpp
  Term lifted(ElementType type, AxisBits allowed, unsigned depth);
  Term reduced(ElementType type, AxisBits allowed, unsigned depth);
  std::optional<Term> ownReduction(ElementType type, AxisBits allowed,
                                   AxisBits over, unsigned depth);
  Term ranged(ElementType type, AxisBits allowed, unsigned depth);
  Term scanned(ElementType type, AxisBits allowed, unsigned depth);
  Term readAt(ElementType type, AxisBits allowed);
  Term window(ElementType type, AxisBits allowed);
  Term withAxes(Term term, AxisBits wanted);
  Term position(unsigned axis, AxisBits allowed, bool &inside);
  std::string overText(AxisBits axes);
  Term condition(AxisBits allowed);
  AxisBits pickAxes(AxisBits among);
  double countOf(AxisBits axes) const;

  // Writes.cpp
  void sortStatement(AxisBits all);
  Term scattered(ElementType type, AxisBits allowed);

  // More.cpp
  Term complexLeaf(ElementType type, AxisBits allowed);
  Term complexValue(ElementType type, AxisBits allowed, unsigned depth);
  Term fromComplex(ElementType type, AxisBits allowed, unsigned depth);
  Term tableRead(ElementType type, AxisBits allowed);
  Term randomBits(AxisBits allowed);
  Term fromBits(ElementType type, AxisBits allowed, unsigned depth);
  Term liftedCall(ElementType type, AxisBits allowed, unsigned depth);
  void controlStatement(AxisBits all);

  // Results.cpp
  std::string dimensionsWith(AxisBits bits, const std::string &last);
  bool joinedResult(ElementType type, AxisBits all, std::string &value,
                    std::string &dimensions);
  bool windowResult(ElementType type, AxisBits all, std::string &value,
                    std::string &dimensions);

  // Functions.cpp
  void declareFunction();
  std::string freeParts(const std::string &given, Callable &callable);
  std::string orderedParts(const std::string &given, Callable &callable);
  void declareReduction();
  std::string jump(const std::string &name,
                   llvm::function_ref<std::string()> next);
  std::string loopsAndBranches(const std::string &name, ElementType type);

  // Declarations.cpp
  Operand &newOperand(ElementType type, std::vector<unsigned> axes,
                      Content content);
  Term termOf(const Operand &operand, AxisBits axes);
  std::string parameterList() const;
  std::string constantList() const;
  void constantParameters();
  void drawAxes();
  void drawBroadcast();
  void drawOperands();
  void letStatements(AxisBits all);
  void branchOnConstant(AxisBits all);
  std::string resultDimensions(const std::vector<unsigned> &axes) const;
  std::vector<unsigned> resultAxes(const Term &value);
  std::string expanded(const std::string &value, AxisBits missing) const;
  Program finish(const std::string &kind, const std::string &results);
  Layout drawLayout();
  bool assignOperand(AxisBits all);
  std::string result(AxisBits all, std::string &value);

  Choices &choices;
  Program program;
  std::vector<Axis> axes;
  std::vector<Term> bound; ///< names in scope
  std::vector<Callable> functions, reductions;
  std::string declared; ///< text in front of the declaration
  std::vector<std::string> lines;
  bool isPortable = false, isScalar = true, inFunction = false;
  bool hasOwnAxis = false; ///< of a result, joined or of a window
  unsigned names = 0;
  std::vector<std::pair<std::string, std::string>> constants;
};

} // namespace quern::fuzz
