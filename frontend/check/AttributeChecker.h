// Checks the attributes of a declaration whose signature and body are checked.
#pragma once

#include "frontend/check/DeclarationChecker.h"

namespace quern::check {

class AttributeChecker {
public:
  explicit AttributeChecker(DeclarationChecker &checker) : checker(checker) {}

  void check();

private:
  // AttributeText.cpp
  void attribute(const ast::Attribute &attribute, typed::Attributes &result);
  bool flagAttribute(const ast::Attribute &attribute,
                     typed::Attributes &result);
  bool saved(const ast::Expr *expr,
             llvm::SmallVectorImpl<llvm::StringRef> &saves);
  const typed::Declaration *derivativeNamed(const ast::Identifier &name);
  void backward(const ast::Attribute &attribute, typed::Attributes &result);
  void origin(const ast::Attribute &attribute, typed::Attributes &result);
  void expectations(const ast::Attribute &attribute, typed::Attributes &result);
  bool isParameterOrResult(llvm::StringRef name) const;

  // AtenAttribute.cpp, AtenSchema.cpp
  std::optional<typed::AtenAttribute> aten(const ast::Attribute &attribute);
  void unknownOverload(const typed::AtenAttribute &attribute);
  void checkSchema(const typed::AtenAttribute &attribute);
  bool atenBinding(const ast::AttributeArgument &argument,
                   typed::AtenBinding &binding);
  bool seedBinding(typed::AtenBinding &binding);
  bool parameterBinding(const ast::AttributeArgument &argument,
                        typed::AtenBinding &binding);
  bool promotionBinding(const ast::AttributeArgument &argument,
                        typed::AtenBinding &binding);
  bool nameBinding(const ast::Expr *value, const ast::Identifier &name,
                   bool isPack, typed::AtenBinding &binding);
  bool valueBinding(const ast::Expr *value, typed::AtenBinding &binding);
  std::optional<unsigned> parameterIndex(llvm::StringRef name) const;

  DeclarationChecker &checker;
};

} // namespace quern::check
