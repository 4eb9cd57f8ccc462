// Checks one declaration: first its signature, then its body.
#pragma once

#include "frontend/check/CheckerState.h"
#include "frontend/check/ModuleChecker.h"

namespace quern::check {

class DeclarationChecker : CheckerState {
public:
  DeclarationChecker(ModuleChecker &module, const ast::Decl &text,
                     typed::Declaration &declaration);

  void checkSignature();
  /// What a reduction yields, once all signatures are known. Like `checkBody`
  /// it goes on from what `checkSignature` left in the declaration.
  void learnResult();
  void checkBody();
  /// Once all bodies are there, and what calls itself is known.
  void checkWhole();
  void checkPacks();
  /// For a `const`: reads its type and values; null after an error.
  const typed::ConstantTable *constantTable(const ast::ConstDecl &decl);

private:
  friend class AttributeChecker;
  friend class Extents;
  friend class ListChecker;
  friend class LoopBody;
  friend class ReadOptions;
  bool constantEntry(const ast::Expr *expr, ScalarType type, Constants &values);
  std::optional<TableExtents> tableExtents(const ast::TensorType &type);
  bool tableEntries(const ast::Expr *value, ScalarType type,
                    const ast::TensorType &text,
                    llvm::ArrayRef<std::int64_t> extents, Constants &values);

  // Signature.cpp, WrittenTypes.cpp, Generics.cpp
  void checkGenerics(llvm::ArrayRef<ast::GenericParam> generics);
  void addTypeParameter(const ast::GenericParam &text);
  void addConstantParameter(const ast::GenericParam &text);
  bool constantParameterType(const ast::GenericParam &text,
                             typed::ConstantParameter &parameter);
  bool constantChoices(const ast::GenericParam &text,
                       typed::ConstantParameter &parameter);
  bool booleansType(const ast::TensorType &text,
                    typed::ConstantParameter &parameter);
  bool functionParameterType(const ast::FunctionType &text,
                             typed::ConstantParameter &parameter);
  void finishGenerics(llvm::ArrayRef<ast::GenericParam> generics);
  void checkParameters(llvm::ArrayRef<ast::Param> params);
  void addParameter(const ast::Param &text);
  bool isHostScalar(const ast::Param &text, const WrittenType &written) const;
  bool admitList(const ast::Param &text, const WrittenType &written);
  void refuseBrackets(Span type);
  bool admitParameter(const ast::Param &text, const WrittenType &written);
  void hostShape(const WrittenType &written, typed::Parameter &parameter);
  const Type *variableType(const Parameter &parameter);
  void checkDefaults(llvm::ArrayRef<ast::Param> params);
  const Expression *defaultOf(const ast::Expr *written, ScalarType type);
  void checkResults(const ast::Type *result);
  void addResult(llvm::StringRef name, const ast::Type *text);
  bool writtenType(const ast::Type *text, WrittenType &written, bool isResult);
  bool tensorType(const ast::TensorType &text, WrittenType &written,
                  bool isResult);
  bool namesAxesOnce(const ast::TensorType &text, const WrittenType &written);
  std::optional<ScalarType> scalarType(const ast::Type *text);
  std::optional<ScalarType> namedScalar(const ast::Identifier &name);
  std::optional<ScalarType> appliedScalar(llvm::StringRef function, Span span,
                                          ScalarType inner);
  bool dimension(const ast::Dimension &text, typed::Dimension &dimension,
                 bool isResult);
  AxisId axisOfDimension(const ast::Dimension &text, bool isResult);
  AxisId fixedAxis(const Expression *extent, Span span);
  AxisId newAxis(const typed::Axis &axis, bool isVisible);
  void derivedExtent(AxisId axis, const ast::Expr *extent);
  AxisId rankRoot(AxisId axis) const;

  // Names.cpp
  bool define(llvm::StringRef name, const Binding &binding);
  Binding *lookup(llvm::StringRef name);
  /// `hint` is for where no known name is near.
  void reportUnknown(const ast::Identifier &name, llvm::StringRef hint = {});
  bool standsIn(Place wanted, Span span, llvm::StringRef what);
  std::size_t openScope() const { return shadowed.size(); }
  void closeScope(std::size_t mark);
  typed::Variable *newVariable(llvm::StringRef name, Span span,
                               typed::VariableKind kind, const Type *type);
  const Expression *nameValue(const ast::Identifier &name);
  const Expression *bindingValue(const Binding &binding, Span span);
  const Expression *variableValue(const typed::Variable &variable, Span span);
  const Expression *axisValue(AxisId axis, Span span);
  const Expression *axisBuiltin(Builtin builtin, AxisId axis, Span span);
  void reportBareAxis(llvm::StringRef axis, llvm::StringRef star, Span span);
  const Expression *symbolValue(const Symbol &symbol,
                                const ast::Identifier &name);
  const Expression *constantParameterValue(unsigned index, Span span);
  const Expression *packValue(const ast::PackExpr &text);
  void reportNoMember(const Expression *value, const ast::Identifier &member);
  const Expression *memberValue(const ast::MemberExpr &text);
  const Expression *targetQuery(const ast::Identifier &member, Span span,
                                const ast::CallExpr *call);
  std::string axesHint() const;
  AxisId axisNamed(const ast::Identifier &name);
  std::optional<ScalarType> typeNamed(const ast::Expr *expr);

  // Expressions.cpp, Literals.cpp, Operators.cpp, Folding.cpp
  const Expression *check(const ast::Expr *expr);
  const Expression *checkInner(const ast::Expr *expr);
  const Expression *checkLeaf(const ast::Expr *expr);
  /// One scalar value, no pack-aligned one, no tuple, nothing absent.
  const Expression *checkScalar(const ast::Expr *expr);
  const Expression *checkScalarOrAligned(const ast::Expr *expr);
  const Expression *checkAs(const ast::Expr *expr, ScalarType type);
  const Expression *checkInteger(const ast::Expr *expr);
  const Expression *checkCondition(const ast::Expr *expr);
  const Expression *asScalar(const Expression *value, bool mayAlign = false);
  bool usable(const Expression *value);
  bool isAbsent(const Expression *value) const;
  const Expression *coerce(const Expression *value, ScalarType type);
  const Expression *settle(const Expression *value);
  const Expression *booleanConstant(Span span, bool value);
  const Expression *integerConstant(Span span, std::int64_t value);
  bool isWeak(const Expression *value) const;
  bool isWeakFloat(const Expression *value) const;
  bool literalFits(const typed::ConstantExpression &literal, ScalarType type);
  const Expression *weakConstant(Span span, const typed::Constant &value);
  const Expression *unary(const ast::UnaryExpr &expr);
  const Expression *makeUnary(typed::UnaryOperator op,
                              const Expression *operand, Span span);
  const Expression *binaryChain(const ast::BinaryExpr &expr);
  const Expression *makeBinary(typed::BinaryOperator op, Span span, Span at,
                               const Expression *left, const Expression *right);
  const Expression *equalityOfTypes(const ast::BinaryExpr &expr);
  const Expression *comparisonChain(const ast::ComparisonChainExpr &expr);
  bool unify(const Expression *&left, const Expression *&right, Span span,
             llvm::StringRef what);
  std::string castHint(const Expression *to, const Expression *of, bool into);
  bool operatorApplies(typed::BinaryOperator op, ScalarType type, Span span);
  const Expression *foldLiterals(typed::BinaryOperator op, Span span,
                                 const Expression *left,
                                 const Expression *right);
  bool dividesByZero(typed::BinaryOperator op, const Expression *left,
                     const Expression *right);
  const Expression *compareStrings(typed::BinaryOperator op, Span span,
                                   const Expression *left,
                                   const Expression *right);
  bool skipAbsent(typed::BinaryOperator op, const Expression *left,
                  const Expression *right, bool &leftOptional,
                  bool &rightOptional);
  const Expression *fold(const Expression *value);
  const Expression *conditional(const ast::ConditionalExpr &expr);
  const Expression *select(const Expression *condition, const Expression *left,
                           const Expression *right, bool isConst);
  const Expression *selectTuple(const Expression *condition,
                                const Expression *left, const Expression *right,
                                bool isConst);
  const Expression *elementOf(const Expression *base, unsigned index);
  const Expression *tuple(const ast::TupleExpr &expr);
  const Expression *field(const Expression *base, const ast::Identifier &name,
                          Span span);

  // Types.cpp
  ElementMask maskOf(ScalarType type) const;
  bool sameType(ScalarType a, ScalarType b) const;
  ScalarType joinTypes(ScalarType a, ScalarType b) const;
  ScalarType canonical(ScalarType type) const;
  std::string spell(ScalarType type) const;
  std::string spell(const Expression *value) const;
  std::string spell(AxisId axis) const;
  std::string source(Span span) const;
  std::string constraintWithin(ScalarType type, ElementMask allowed) const;
  bool requireMask(ScalarType type, ElementMask allowed, Span span,
                   llvm::StringRef what);

  // Axes.cpp
  bool putInOrder(const Expression *value, llvm::MutableArrayRef<AxisId> axes,
                  llvm::StringRef user, llvm::StringRef hint);
  AxisList unite(AxisList a, AxisList b);
  AxisList uniteAll(Expressions values);
  AxisList without(AxisList axes, AxisList removed);
  bool contains(AxisList axes, AxisId axis) const;
  /// The type of a result of pointwise work: `scalar` over the operands' axes.
  const Type *pointwise(ScalarType scalar, Expressions operands);
  void alignPacks(AxisId a, AxisId b);
  AxisId jointPack(Expressions operands);
  void reportWholePack(const Expression *operand);

  // Calls.cpp, Inference.cpp, LiftedCalls.cpp
  const Expression *call(const ast::CallExpr &expr);
  const Expression *namedCall(const ast::CallExpr &expr,
                              const ast::Identifier &name);
  const Expression *specialForm(const ast::CallExpr &expr, llvm::StringRef name,
                                bool &isSpecial);
  const Expression *symbolCall(const ast::CallExpr &expr, const Symbol &symbol,
                               const ast::Identifier &name);
  const Expression *methodCall(const ast::CallExpr &expr,
                               const ast::MemberExpr &member);
  const Expression *declarationCall(const ast::CallExpr &expr,
                                    const Declaration &callee);
  bool mayCall(const Declaration &callee, Span span);
  const Expression *indirectCall(const ast::CallExpr &expr, unsigned index);
  const Expression *cast(const ast::CallExpr &expr, ScalarType type);
  const Expression *makeCast(const Expression *value, ScalarType type,
                             Span span);
  bool matchArguments(const ast::CallExpr &expr, const Declaration &callee,
                      CallArguments &arguments);
  bool matchArgument(const ast::Argument &argument, std::size_t place,
                     const Declaration &callee, CallArguments &arguments);
  bool fillArguments(const ast::CallExpr &expr, const Declaration &callee,
                     CallArguments &arguments);
  const Expression *argumentValue(const ast::Expr *expr,
                                  const Parameter &parameter);
  bool genericArguments(llvm::ArrayRef<ast::Argument> brackets,
                        const Declaration &callee, GenericArguments &generics);
  bool genericArgument(const ast::Argument &argument, const Declaration &callee,
                       unsigned position, GenericArguments &generics);
  bool namedGeneric(const ast::Argument &argument, const Declaration &callee,
                    GenericArguments &generics);
  bool constantGeneric(const ast::Argument &argument,
                       const typed::ConstantParameter &parameter,
                       const Expression *&result);
  bool booleansGeneric(const ast::Argument &argument,
                       const typed::ConstantParameter &parameter,
                       const Expression *&result);
  bool functionGeneric(const ast::Argument &argument,
                       const typed::ConstantParameter &parameter,
                       const Expression *&result);
  bool axisGeneric(const ast::Argument &argument, const Declaration &callee,
                   AxisId axis, GenericArguments &generics);
  bool inferFrom(ScalarType wanted, const Expression *value,
                 GenericArguments &generics);
  bool finishTypes(const Declaration &callee, Span span,
                   GenericArguments &generics, TypeList &types);
  bool fitsParameter(const typed::FunctionReferenceExpression &given,
                     const typed::ConstantParameter &parameter,
                     llvm::ArrayRef<ScalarType> types);
  bool finishConstants(const Declaration &callee, Span span,
                       GenericArguments &generics,
                       llvm::ArrayRef<ScalarType> types);
  bool fitArgument(const Expression *&value, ScalarType wanted,
                   llvm::StringRef parameter);
  const Expression *liftedCall(const Declaration &callee, Span span,
                               CallArguments &arguments,
                               GenericArguments &generics);
  bool bindAxes(const Declaration &callee, CallArguments &arguments,
                GenericArguments &generics, AxisBindings &bound);
  const Type *resultType(const Declaration &callee,
                         llvm::ArrayRef<ScalarType> typeArguments,
                         AxisList lifted, BoundAxes bound);
  bool bindOperand(const Declaration &callee, const Parameter &parameter,
                   const Expression *value, AxisBindings &bound);
  bool bindPacks(const Declaration &callee, const Expression *value,
                 AxisList open, AxisList rest, AxisBindings &bound);
  bool bindOpen(const Declaration &callee, const Expression *value,
                AxisList open, AxisList rest, AxisBindings &bound);
  void bindDerived(const Declaration &callee, const CallArguments &arguments,
                   const GenericArguments &generics, AxisBindings &bound,
                   Span span);
  AxisId derivedAxis(const typed::Axis &axis, const Expression *extent,
                     Span span);

  // Arguments.cpp
  bool reportRepeatedName(llvm::ArrayRef<ast::Argument> arguments);
  void checkArgumentNames();
  bool namesResults(const ast::Expr *value,
                    llvm::ArrayRef<llvm::StringRef> given,
                    llvm::ArrayRef<llvm::StringRef> wanted, Places &places);

  // Builtins.cpp
  const Expression *builtinCall(const ast::CallExpr &expr, Builtin builtin);
  const Expression *scalarBuiltin(const ast::CallExpr &expr, Builtin builtin);
  const Expression *bitcast(const ast::CallExpr &expr);
  const Expression *positionRequirement(const ast::CallExpr &expr);
  const Expression *requirement(const ast::CallExpr &expr);
  const Expression *typeValue(const ast::CallExpr &expr, Builtin builtin);
  const Expression *position(const ast::CallExpr &expr, Builtin builtin);
  const Expression *presence(const ast::CallExpr &expr);
  const Expression *kindTest(const ast::CallExpr &expr,
                             typed::Constraint constraint);
  std::string overHint(const ast::CallExpr &expr, llvm::StringRef name);
  bool isForeignModule(const ast::Identifier &base, llvm::StringRef member);
  bool operandCount(const ast::CallExpr &expr, llvm::StringRef name,
                    unsigned count);

  // Reductions.cpp, Scans.cpp
  struct Over;
  struct MonoidArguments;
  bool monoidArguments(llvm::ArrayRef<ast::Argument> given,
                       const Declaration &monoid, Span span,
                       MonoidArguments &arguments);
  bool solveMonoid(const Declaration &monoid, Span span,
                   MonoidArguments &arguments, GenericArguments &generics,
                   TypeList &typeArguments);
  const Expression *reduceOver(const ast::CallExpr &expr,
                               const Declaration &monoid, const Over &over);
  bool openOver(const ast::OverClause &clause, Over &over);
  bool localAxis(const ast::OverAxis &text, Over &over);
  void closeOver(Over &over);
  bool checkOver(const Over &over, AxisList available);
  const Expression *reduce(const ast::CallExpr &expr,
                           const Declaration &monoid);
  const Expression *scan(const ast::CallExpr &expr);
  const Expression *sortBy(const ast::CallExpr &expr);
  const Expression *concat(const ast::CallExpr &expr);
  bool isOneAxis(Span span, AxisList over, llvm::StringRef form);
  const Expression *scanOver(const ast::CallExpr &expr,
                             const Declaration &monoid, const Over &over);
  const Expression *sortOver(const ast::CallExpr &expr, const Over &over);
  const Expression *concatOver(const ast::CallExpr &expr, const Over &over);
  bool concatOperands(const ast::CallExpr &expr, ValueList &operands,
                      ScalarType &element);
  AxisList concatAxes(const Expression *operand);
  AxisId joinedAxis(const ast::CallExpr &expr, Expressions operands,
                    AxisList own);
  bool flag(const ast::Argument &argument, bool &value);
  bool flagUnknown(const ast::Argument &argument, llvm::StringRef form,
                   llvm::ArrayRef<llvm::StringRef> flags);
  const Type *monoidResult(const Declaration &monoid,
                           llvm::ArrayRef<ScalarType> types, AxisList axes);
  const typed::Declaration *monoidNamed(const ast::Expr *expr);
  bool compileTimeFlag(const ast::Argument &argument, const Expression *&flag);

  // Access.cpp, Scatter.cpp
  const Expression *index(const ast::IndexExpr &expr);
  const Expression *at(const ast::CallExpr &expr, const Expression *base,
                       bool isOffset);
  const Expression *makeLoad(Span span, const Expression *base,
                             Expressions positions, const Expression *outside,
                             const Expression *when);
  bool positionAxes(const Expression *base, llvm::SmallVectorImpl<AxisId> &axes,
                    Span span);
  const Expression *positionValue(const ast::Expr *expr, AxisId axis);
  bool isOutOfArray(const typed::Expression *base, Expressions positions);
  bool isInFront(const typed::Expression *position, AxisId axis);
  void reportPositionCount(const ast::IndexExpr &expr, AxisList own);
  const Expression *scatter(const ast::CallExpr &expr);
  struct ScatterParts;
  bool scatterArgument(const ast::Argument &argument, ScatterParts &parts);
  bool scatterPositions(const ast::Expr *at, ScatterParts &parts);
  bool scatterOrder(const ast::Argument &argument, bool &isFree);
  bool scatterMonoid(const ast::Expr *with, ScatterParts &parts);
  const Expression *makeScatter(const ast::CallExpr &expr, ScatterParts &parts);
  bool placeAt(const ast::Argument &argument, AxisList own,
               ValueList &positions, const Expression *base,
               bool isOffset = false);
  const Expression *ownPosition(AxisId axis, Span span);
  const Expression *offsetPosition(const ast::Expr *expr, AxisId axis);

  // KernelText.cpp, KernelMemory.cpp, HostText.cpp
  const Expression *threadBuiltin(const ast::CallExpr &expr, Builtin builtin);
  const Expression *threadPosition(const ast::MemberExpr &expr,
                                   Builtin builtin);
  bool atomicWords(ast::CallExpr &expr, typed::AtomicWords &words);
  const Expression *placeOperand(const ast::Expr *written, llvm::StringRef user,
                                 char kind);
  const Expression *tileOperand(const ast::Expr *written, llvm::StringRef user);
  const Expression *countGiven(const ast::Expr *written, Builtin builtin);
  const Expression *memoryBuiltin(const ast::CallExpr &expr, Builtin builtin);
  const Expression *atomic(const ast::CallExpr &call, Builtin builtin);
  const Expression *hostBuiltin(const ast::CallExpr &expr, Builtin builtin);
  const Expression *allocation(const ast::CallExpr &expr, Builtin builtin);
  const Expression *viewCall(const ast::CallExpr &expr, const Expression *base,
                             Builtin builtin);
  const Expression *viewIndex(const ast::IndexExpr &expr,
                              const Expression *base);
  const Expression *externCall(const ast::CallExpr &expr,
                               const ast::ExternExpr &callee);
  const Expression *hostCall(const Declaration &callee, Span span,
                             CallArguments &arguments,
                             GenericArguments &generics);

  // Statements.cpp, Loops.cpp, Assignments.cpp
  using StatementList = llvm::SmallVectorImpl<const typed::Statement *>;
  typed::Block block(const ast::Block &block);
  void statement(const ast::Stmt &stmt, StatementList &into);
  void let(const ast::LetStmt &stmt, StatementList &into);
  void variable(const ast::VarStmt &stmt, StatementList &into);
  void assign(const ast::AssignStmt &stmt, StatementList &into);
  void assignTuple(const ast::AssignStmt &stmt, StatementList &into);
  void assignVariable(const ast::Expr *target, const ast::AssignStmt &stmt,
                      StatementList &into);
  void store(const ast::AssignStmt &stmt, StatementList &into);
  const typed::Variable *assignable(const ast::Expr *target);
  void refuseTarget(const ast::Expr *target, const typed::Variable &variable);
  const Expression *valueFor(const typed::Variable &target,
                             const Expression *value);
  void noteAxes(const typed::Variable &variable, AxisList axes);
  void ifStatement(const ast::IfStmt &stmt, StatementList &into);
  void ifBranches(const ast::IfStmt &stmt, std::size_t number,
                  StatementList &into);
  void constIf(const ast::IfStmt &stmt, std::size_t number,
               StatementList &into);
  const Expression *constCondition(const ast::Expr *expr);
  void forStatement(const ast::ForStmt &stmt, StatementList &into);
  void forRange(const ast::ForStmt &stmt, const ast::CallExpr &range,
                StatementList &into);
  void whileStatement(const ast::WhileStmt &stmt, StatementList &into);

  void returnStatement(const ast::ReturnStmt &stmt, StatementList &into);
  const Expression *stored(const Expression *value, ScalarType type);
  // ResultAxes.cpp
  bool lacksAxis(const Expression *value, AxisId axis, Span declared);
  bool fitsAxes(const Expression *value,
                llvm::ArrayRef<typed::Dimension> dimensions, Span declared);
  const Expression *expand(const ast::CallExpr &expr);
  const Expression *returned(const Expression *value,
                             const typed::Result &result, Span span);
  void launch(const ast::LaunchStmt &stmt, StatementList &into);
  void storage(const ast::StorageStmt &stmt, StatementList &into);
  void each(const ast::EachStmt &stmt, StatementList &into);
  void evaluate(const ast::ExpressionStmt &stmt, StatementList &into);
  void bindPattern(const ast::Pattern &pattern, const Expression *value,
                   Span span, StatementList &into);
  // Annotations.cpp
  const Expression *annotated(const ast::Type *text, const Expression *value,
                              AxisList &named);
  const Expression *annotatedTensor(const ast::TensorType &text,
                                    const Expression *value);
  const Expression *annotatedList(const ast::ListType &text,
                                  const Expression *value);
  std::optional<AxisList> annotatedAxes(const ast::TensorType &text);
  const typed::Variable *patternVariable(const ast::Identifier &name,
                                         const Type *type,
                                         typed::VariableKind kind);
  const Type *underControl(const Type *type);
  void returnPart(const ast::ReturnStmt &stmt, const Expression *value,
                  StatementList &into);
  const Expression *tupleAs(const Expression *value, const Type &type,
                            const ast::ReturnStmt &stmt);
  bool returnValue(const ast::Expr *expr, std::size_t number,
                   ReturnedValues &returned);
  bool returnValues(const ast::ReturnStmt &stmt, ReturnedValues &returned);
  const typed::Statement *returnUnder(Span span, ReturnedValues &returned,
                                      std::size_t number);
  void misplaced(Span span, llvm::StringRef what);
  void warnUnused(const Binding &binding, llvm::StringRef name);
  std::string endedHint(llvm::StringRef name);
  void warnUnusedNames();

  // Narrowing.cpp
  struct Facts;
  /// What is known when `condition` holds (or does not).
  void collectFacts(const Expression *condition, bool holds, Facts &facts);
  void assume(const Facts &facts);
  typed::Block blockUnder(const ast::Block &block, const Facts &facts);
  const Expression *checkUnder(const ast::Expr *expr, const Facts &facts);

  // ReductionParts.cpp
  void checkReductionSignature(const ast::ReductionDecl &text);
  void reductionStates(const ast::ReductionDecl &text,
                       typed::Reduction &reduction);
  void stepOperands(const ast::ReductionPart &step,
                    typed::Reduction &reduction);
  void reductionResult(const ast::ReductionPart &finish,
                       typed::Reduction &reduction);
  void checkReductionBody(const ast::ReductionDecl &text);
  typed::ReductionPart reductionPart(const ast::ReductionPart &text,
                                     const typed::Reduction &reduction,
                                     llvm::StringRef name);

  // Bodies.cpp: the order of the above, and passes over bodies
  void adoptSignature();
  void checkBarriers();
  void warnWhole();
  void runBody(const ast::Block &body);
  void widenVariables(const ast::Block &body);
  // MutVariables.cpp
  const Parameter *mutableParameter(const typed::Variable &variable) const;
  const typed::Variable *parameterOf(const typed::Variable *variable) const;
  void findMutVariables(const ast::Block &body);
  void openMutVariables(StatementList &into);
  void storeMutVariables(Span span, StatementList &into);
  typed::Block wholeBody(const ast::Block &body);
  static bool fallsThrough(typed::Block block);
  static llvm::StringRef returnHint(typed::Block block);

  template <typename... Arguments, typename... Given>
  DiagnosticBuilder report(Span span, const DiagnosticKind<Arguments...> &kind,
                           const Given &...given) {
    if (kind.info.severity == Severity::Error)
      hasFailed = true;
    if (isSilent)
      return DiagnosticBuilder(nullptr);
    return module.diagnostics.report(span, kind, given...);
  }
  template <typename Node> Node *make(Span span, const Type *type) {
    return builder.make<Node>(span, type);
  }
  template <typename Node> Node *makeStatement(Span span) {
    return builder.make<Node>(span);
  }

  ModuleChecker &module;
  typed::ModuleBuilder &builder;
  typed::TypeContext &types;
  const ast::Decl &text;
  typed::Declaration &declaration;
};

} // namespace quern::check
