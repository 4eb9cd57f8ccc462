// Extents, positions and numbers of a call where a float is wanted.
#pragma once

#include "frontend/check/DeclarationChecker.h"

namespace quern::check {

class Extents {
public:
  explicit Extents(DeclarationChecker &checker) : checker(checker) {}

  /// An `int` made of sizes, positions of axes, `int` parameters of a call and
  /// integers known when compiling alone: of no data.
  bool contain(const Expression *value) const;
  /// Such a value as the float that `type` computes in; null for other values,
  /// for other types, and for floats that skip integers below 2^24.
  const Expression *as(const Expression *value, ScalarType type) const;
  /// For the name of a `let`: it stands for what it was given.
  void note(const typed::Variable &variable, const Expression *value);
  /// Gives two operands, of which one is an extent, one type, if that can be.
  bool unify(const Expression *&left, const Expression *&right) const;
  /// What the operands of a call say about the callee's type parameters:
  /// literals and extents decide only what nothing else decides.
  void inferTypes(const Declaration &callee, const CallArguments &arguments,
                  GenericArguments &generics);
  /// The following say what to write where no operand says which float is
  /// meant, and are false elsewhere: `1.0 / size(C)`, `1 / size(C)` and
  /// `sqrt(size(C))`, for which `allowed` are the types of the function.
  bool refuseLiteral(const Expression *left, const Expression *right);
  bool refuseDivision(Span span, const Expression *left,
                      const Expression *right);
  bool refuseOperand(const Expression *value, ElementMask allowed,
                     llvm::StringRef function);

private:
  bool isOfCall(const typed::Variable &variable) const;
  std::string hint(const Expression *value) const;

  DeclarationChecker &checker;
};

} // namespace quern::check
