// The walk over a typed declaration that makes one kernel.
#pragma once

#include "dsl/dialect/Dialect.h"
#include "dsl/irgen/Frame.h"
#include "dsl/irgen/IrGen.h"

#include "frontend/typed/ConstantValue.h"
#include "frontend/typed/TypedModule.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <map>

namespace quern {
class DiagnosticEngine;
}

namespace quern::irgen {

/// What `@fastmath` allows; infinities and NaN stay what they are.
mlir::arith::FastMathFlags fastMathOf(const Declaration &declaration);
/// What a type parameter of `callee` stands for where it is given `given`.
ElementType typeIn(const Declaration &callee, ElementType given);

/// An integer made of constants: of the counters of loops that were written
/// out.
std::optional<llvm::APInt> foldedInteger(mlir::Value value);

/// The axes that a value depends on, and perhaps others; `seen` gathers the
/// operations that make it.
void axesBehind(mlir::Value value, llvm::DenseSet<mlir::StringAttr> &axes,
                llvm::SmallPtrSetImpl<mlir::Operation *> &seen);

/// A monoid with its operands, while its operation is being made.
struct Monoid {
  Frame &frame;
  const typed::Reduction &reduction;
  Values initial; ///< one for each state
  Values inputs;  ///< one for each variable of `step` behind the state
};

/// Makes one kernel; lives for one request. The methods are spread over the
/// files of this folder by construct.
class Generator {
public:
  /// What reads that may miss lead to is stored for reads at other places only
  /// if `isBold`.
  Generator(mlir::MLIRContext &context, const GenerationRequest &request,
            std::vector<DslError> &errors, bool isBold)
      : builder(&context), b(builder), request(request), errors(errors),
        isBold(isBold) {}

  /// The module, or null after an error.
  mlir::Operation *generate();
  /// Whether a place may miss in what is stored that no result asks for.
  bool wasTooBold() const { return asksTooMuch; }

private:
  // Kernel.cpp: the operation around the body.
  void bindTypesAndAxes(Frame &frame);
  void bindParameters(Frame &frame);
  void addTensor(Frame &frame, llvm::ArrayRef<typed::Dimension> dimensions,
                 ElementType element);
  void addScalars(Frame &frame, const typed::Parameter &parameter);
  unsigned tensorCount(const typed::Parameter &parameter) const;
  void addParts(Frame &frame);
  std::vector<Value> scalarsFrom(int first, unsigned count, unsigned &scalar,
                                 ElementType element);
  void attachArguments(Frame &frame);
  void storeResults(Frame &frame);
  void storeAt(mlir::Value tensor, const Value &value, ElementType element);
  mlir::StringAttr freshAxis(llvm::StringRef name);

  // Expressions.cpp
  Value evaluate(const Expression &expression);
#define QN_EXPRESSION(enumerator)                                              \
  Value visit(const typed::enumerator##Expression &expression);
#include "frontend/typed/Expressions.def"
  Value compileTimeValue(const Expression &expression);
  Scalar scalar(const Expression &expression);
  /// One value for each of a pack's `rank` axes.
  Value evaluateRanks(const Expression &expression, unsigned rank);
  Value constant(const typed::Constant &constant, ElementType type);
  Value logical(const typed::BinaryExpression &expression);
  Value arithmetic(typed::BinaryOperator op, Scalar left, Scalar right);
  /// `scalar` as `type` without a rounding that nobody wrote.
  Scalar coerce(Scalar scalar, ElementType type);
  Value coerce(Value value, const typed::Type &type);
  Value zeroOf(const typed::Type &type);
  Value zeroOf(ElementType type);

  // FloatDivision.cpp
  Scalar truncatedModulo(Scalar left, Scalar right);
  Scalar floatFloorDivide(Scalar left, Scalar right);
  Scalar floatModulo(Scalar left, Scalar right);

  // Builtins.cpp
  Scalar scalarBuiltin(const typed::BuiltinExpression &expression,
                       llvm::ArrayRef<Scalar> operands);
  Scalar floatBuiltin(typed::Builtin builtin, llvm::ArrayRef<Scalar> operands);
  Scalar estimate(const typed::BuiltinExpression &expression, Scalar x);
  Scalar exactOrCoarse(llvm::ArrayRef<Scalar> operands);
  Scalar integerBuiltin(typed::Builtin builtin,
                        llvm::ArrayRef<Scalar> operands);
  Scalar classify(typed::Builtin builtin, Scalar operand);
  Scalar bitcast(const typed::BuiltinExpression &expression, Scalar x);
  Scalar required(Scalar value, Scalar holds, llvm::StringRef text);
  Scalar complexBuiltin(typed::Builtin builtin, llvm::ArrayRef<Scalar> operands,
                        ElementType type);

  // Positions.cpp
  mlir::Value positionOf(const Place &place);
  mlir::Value sizeOf(const Place &place);
  /// Row-major position within `places`; local axes count from 0, or from their
  /// lower bounds.
  mlir::Value linearPosition(llvm::ArrayRef<Place> places,
                             bool fromLower = false);
  mlir::Value linearSize(llvm::ArrayRef<Place> places);
  mlir::Value index(std::int64_t value);
  void openLocalAxis(AxisId axis);
  /// A local axis of the same positions; from here on `place` stands at them.
  Place standIn(const Place &place);
  /// For an axis that shows in the result of a call.
  void openResultAxis(AxisId axis);
  llvm::SmallVector<Place, 4> placesOf(llvm::ArrayRef<AxisId> axes);
  /// Of a value; a tuple's elements have the same axes.
  llvm::SmallVector<Place, 4> placesOf(const typed::Type &type);
  const Substitution *substitutionOf(mlir::StringAttr axis,
                                     const Substitution *under) const;

  // Variables.cpp
  Value lookup(const Variable &variable);
  void bind(const Variable &variable, Value value);
  Binding::Made madeHere(Value value) const;
  bool isStillGood(const Binding::Made &made, llvm::ArrayRef<Place> places);
  Binding::Made *storable(Binding &binding, llvm::ArrayRef<Place> places);
  bool resultsTake(mlir::ValueRange values) const;
  Value remake(Binding &binding);
  bool standsHere(const Binding::Made &made, llvm::ArrayRef<Place> places);
  Value readElsewhere(const Variable &variable, Binding::Made &made);
  /// Whether `expression` may mean something else further on.
  bool changes(const Expression &expression) const;

  // Access.cpp
  /// An axis that a read moves, and where to.
  struct Move {
    Place place;
    mlir::Value position;
    mlir::LocationAttr writtenAt = {}; ///< null: the axis stands by itself
  };
  using Moves = llvm::SmallVector<Move, 4>;
  void collectMoves(const typed::LoadExpression &load, Moves &moves);
  Value loadTensor(const Binding &operand, const typed::LoadExpression &load,
                   const Moves &moves);
  Value loadComputed(const typed::LoadExpression &load, const Moves &moves);
  Value loadOwn(const Binding &binding);
  Value loadElement(const typed::LoadExpression &load);
  /// Zero as it stands in memory, for reads that may miss.
  mlir::Value storedZero(ElementType type);
  /// Operations that a look at where lanes read is about as long as.
  static constexpr unsigned lengthOfCheck = 15;
  Scalar emitLoad(const Binding &binding, mlir::ValueRange indices,
                  mlir::Value outside, mlir::Value when, bool checked,
                  llvm::ArrayRef<mlir::Attribute> writtenAt = {});
  mlir::Value toIndex(Scalar scalar);
  /// The same for what takes positions beyond either end: those of 64 bits
  /// without a sign stay beyond the far one.
  mlir::Value toEnds(Scalar scalar);
  /// Notes at a checked operation which of its indices have no sign, and where
  /// the text has them.
  void markIndices(mlir::Operation *op, mlir::ValueRange indices,
                   bool isChecked,
                   llvm::ArrayRef<mlir::Attribute> writtenAt = {});
  /// Where the text has positions that were made last.
  llvm::SmallVector<mlir::Attribute, 4> writtenPlaces(mlir::ValueRange indices);
  /// Where the text has the positions of an operand's axes.
  llvm::SmallVector<mlir::Attribute, 4>
  movedPlaces(llvm::ArrayRef<Place> places);
  mlir::Value inRange(mlir::Value position, const Place &place);
  Scalar moveCondition(const Moves &moves, Scalar when);

  // Staged.cpp: values that are stored before they are read elsewhere.
  mlir::Value addStaged(mlir::Type element, llvm::ArrayRef<Place> places);
  void setInsertionPointOutside();
  /// Runs `make` in front of the loops around, every axis where it stands.
  void atTop(llvm::function_ref<void()> make);
  mlir::Value readStaged(mlir::Value tensor, llvm::ArrayRef<Place> places,
                         mlir::IntegerAttr part = {});
  bool staysInside(const Expression &expression, llvm::ArrayRef<Place> places);
  bool movesAreChecked(llvm::ArrayRef<Place> places) const;
  /// A value that depends on its whole row, read where the axes stand now.
  Value staged(const Expression &expression);
  Scalar stagedScatter(const typed::ScatterExpression &expression,
                       Frame *scatterFrame);
  /// `value`, or what a scatter leaves.
  Value whole(Value value) {
    if (value.kind == Value::Kind::Scatter)
      return stagedScatter(*value.scatter, value.scatterFrame);
    return value;
  }
  /// Scans that cannot share their loops leave their results in the workspace.
  void stageScans();
  void readStagedBack();
  void dropUnread();
  /// Whether a loop over one of the axes would change where a substitution in
  /// force reads.
  bool captures(llvm::ArrayRef<Place> over) const;
  /// The kernel's axes that `value` depends on, and perhaps others; nothing if
  /// it depends on a local one.
  std::optional<llvm::SmallVector<mlir::Attribute, 4>>
  kernelAxesBehind(mlir::Value value) const;
  /// The conditions in force that a loop over the axes does not change.
  llvm::SmallVector<Condition, 4>
  conditionsAlong(llvm::ArrayRef<Place> over) const;
  // Sort.cpp
  mlir::Value sortBits(const typed::SortExpression &expression);
  mlir::Value positionOfRank(const typed::SortExpression &expression,
                             const Place &place);
  mlir::StringAttr ranksRead(llvm::ArrayRef<Place> places);
  mlir::Value orderOf(const typed::SortExpression &expression,
                      mlir::StringAttr axis, llvm::ArrayRef<Place> places);
  Value readSorted(const typed::SortExpression &expression,
                   mlir::StringAttr axis, mlir::Value from);

  // ThreadMemory.cpp: `kernel` text, whose reads and writes have an order
  Value loadThread(const typed::LoadExpression &load);
  Value readGuarded(const Binding &place, mlir::ValueRange indices,
                    mlir::Value good, Scalar outside);
  Scalar emitRead(const Binding &place, mlir::ValueRange indices, bool checked);
  void emitWrite(const Binding &place, mlir::ValueRange indices, Scalar value,
                 bool checked);
  void splitIndex(mlir::Value index, llvm::ArrayRef<typed::AxisId> parts,
                  llvm::SmallVectorImpl<mlir::Value> &indices);
  llvm::SmallVector<mlir::Value, 4>
  threadIndices(const typed::LoadExpression &load);
  const Binding *placeOf(const typed::LoadExpression &load);
  void executeStore(const typed::StoreStatement &statement);
  void executeStorage(const typed::StorageStatement &statement);
  Value atomic(const typed::BuiltinExpression &expression);
  llvm::SmallVector<mlir::Value, 4> extentsOf(const Binding &place);
  // ThreadCopies.cpp
  Value memoryBuiltin(const typed::BuiltinExpression &expression);
  Value copy(const typed::BuiltinExpression &expression, std::int64_t count);
  Value tile(const typed::BuiltinExpression &expression,
             llvm::ArrayRef<std::int64_t> counts);
  bool isGoodPlace(const typed::BuiltinExpression &expression,
                   const typed::LoadExpression &load, mlir::ValueRange indices);
  bool isWholeTile(const typed::BuiltinExpression &expression,
                   const Expression &named, std::int64_t elements);
  Value tilePlace(const typed::BuiltinExpression &expression);
  mlir::Value isInside(const Binding &place, mlir::ValueRange indices,
                       std::int64_t count);

  // Threads.cpp: `kernel` text
  bool isThreadText() const {
    return frame->declaration.kind == typed::DeclarationKind::Kernel;
  }
  void executeLaunch();
  Value threadBuiltin(const typed::BuiltinExpression &expression);
  Value vote(typed::Builtin builtin, Scalar condition);
  Value shuffle(typed::Builtin builtin, Scalar value, Scalar offset);
  struct Counting {
    Scalar lower, upper, stride, first;
    bool isBackward = false;
    bool isFromZero = false;
  };
  /// How far it is from one bound to the other, nothing backwards.
  Scalar distance(Scalar low, Scalar high);
  std::optional<Counting> countingOf(const typed::ForStatement &statement,
                                     std::int64_t step);
  Value logicalBranch(const typed::BinaryExpression &expression);
  void executeRest(typed::Block statements);
  bool executeCounted(const typed::ForStatement &statement);

  // Tables.cpp
  Value loadTable(const typed::LoadExpression &load);
  /// What `concat` has so far: the operands in front of `begin`.
  struct Joined {
    mlir::Value position, begin;
    Scalar value;
  };
  void joinPart(const typed::ConcatExpression &expression, const Place &place,
                mlir::Value end, Joined &joined,
                llvm::function_ref<Scalar(mlir::Value inside)> read);
  const Binding *joinedList(const typed::ConcatExpression &expression);
  Scalar loadJoined(const Binding &list,
                    const typed::ConcatExpression &expression);
  Scalar loadPart(const Binding &part, mlir::Value inside);

  // Calls.cpp
  Value inlineBody(Frame &callee);
  Value inlineOnce(Frame &callee);
  void bindTypes(Frame &callee,
                 llvm::ArrayRef<typed::ScalarType> typeArguments);
  void bindConstants(Frame &callee, typed::Expressions arguments);
  void bindIn(Frame &callee, const Variable &variable, Value value);
  void bindArgument(Frame &callee, const typed::Parameter &parameter,
                    const Expression *argument);
  bool isReadElsewhere(const Expression &expression);
  void bindSubjects(Frame &callee, const typed::CallExpression &expression);
  void bindAxes(Frame &callee, const typed::CallExpression &expression);
  bool packsMeet(const Frame &callee, Span span);
  ConstantBinding constantArgument(const Expression &argument);

  // CompileTime.cpp
  typed::ConstantEnvironment constantEnvironment();
  std::optional<typed::Constant> known(const Expression &expression);
  std::optional<typed::Constant> knownReal(const Expression &expression);
  std::optional<typed::Constant>
  chosenBy(const Expression &subject,
           const typed::ConstantParameter &parameter);
  bool decide(const Expression &condition);
  std::optional<bool> isPresent(const Variable &variable);
  std::optional<std::int64_t> ask(typed::TargetQuery query, ElementType type);
  ConstantBinding fromSpecialization(const typed::ConstantParameter &parameter,
                                     const ConstantArgument &argument);

  // FunctionParameters.cpp
  const Declaration *functionNamed(const typed::ConstantParameter &parameter,
                                   llvm::StringRef name);

  // Reductions.cpp
  Monoid openMonoid(const Declaration &declaration,
                    llvm::ArrayRef<typed::ScalarType> typeArguments,
                    typed::Expressions constants,
                    typed::Expressions parameters);
  void collectInputs(Monoid &monoid, typed::Expressions operands,
                     llvm::function_ref<mlir::Value()> position);
  mlir::Value threadPosition(typed::AxisId axis);
  mlir::Value inputsWhere(Monoid &monoid, typed::Expressions operands,
                          const typed::Expression *where,
                          llvm::ArrayRef<Place> along,
                          llvm::function_ref<mlir::Value()> position);
  Value runPart(Monoid &monoid, const typed::ReductionPart &part,
                Values arguments, const typed::Type &type);
  void fillRegion(Monoid &monoid, mlir::Region &region, const Values &like,
                  const typed::ReductionPart &part,
                  llvm::function_ref<Values(Values)> arrange);
  void fillRegions(Monoid &monoid, mlir::Region &step, mlir::Region &merge);
  Value finishMonoid(Monoid &monoid, mlir::ValueRange results);
  Value reduceOne(Monoid &monoid, mlir::Value where);
  const Substitution *unmoved(llvm::ArrayRef<Place> over);
  Value prefix(const typed::ScanExpression &expression,
               llvm::ArrayRef<Place> along);

  // Scatter.cpp
  /// `under`: the conditions of the arms around it.
  void scatter(const typed::ScatterExpression &expression, mlir::Value tensor,
               ElementType element, llvm::ArrayRef<Condition> under = {});
  mlir::Value isSeen(const typed::ScatterExpression &expression,
                     llvm::ArrayRef<mlir::Value> indices, mlir::Value tensor,
                     llvm::ArrayRef<Condition> under);
  /// Whether the places of `tensor` are those of the scatter: no axis of it is
  /// one that the values are walked along.
  bool writesWhole(const typed::ScatterExpression &expression,
                   mlir::Value tensor);
  llvm::SmallVector<mlir::Value, 4>
  scatterIndices(const typed::ScatterExpression &expression,
                 mlir::Value tensor);
  void fillCombine(const typed::ScatterExpression &expression,
                   mlir::Region &region, ElementType element);

  // Statements.cpp
  void execute(typed::Block statements);
  void execute(const typed::Statement &statement);
  void executeReturn(const typed::ReturnStatement &statement);
  void executeLet(const typed::LetStatement &statement);
  Value valueFor(const Variable &variable, const Expression &expression);
  void executeAssign(const typed::AssignStatement &statement);
  Value current(const Variable &variable);
  void assign(const Variable &variable, Value value);

  // Branches.cpp
  using Arm = llvm::function_ref<Values()>;
  using AssignedVariables = llvm::ArrayRef<const Variable *>;
  /// Both arms under `condition`; the results are selected.
  Values branch(Scalar condition, Arm whenTrue, Arm whenFalse);
  llvm::SmallVector<mlir::Value, 8> keepBranch(mlir::Operation *draft,
                                               mlir::ValueRange left,
                                               mlir::ValueRange right);
  /// True where this text runs, as far as conditions around it say; or null.
  /// `ofPlaces`: as far as places do, for a value that must be there for lanes
  /// that do not take an arm as well.
  mlir::Value predicate(bool ofPlaces = false);

  // Conditionals.cpp
  void executeIf(const typed::IfStatement &statement);
  void executeArms(Scalar condition, typed::Block then, typed::Block otherwise,
                   bool otherwiseReturns);
  Values runArm(typed::Block block, AssignedVariables assigned, bool returns);
  Values handOut(AssignedVariables assigned, bool returns);
  void takeResults(Values &results, AssignedVariables assigned, bool returns);
  Values emptyReturn();
  Values selectValues(Scalar condition, Values whenTrue,
                      const Values &whenFalse);

  // Loops.cpp
  void executeFor(const typed::ForStatement &statement);
  void executeWhile(const typed::WhileStatement &statement);
  struct Loop;
  ReturnState beginReturns(const Loop &loop);
  void endReturns(const Loop &loop, ReturnState &before);
  void emitLoop(Loop &loop);
  mlir::Value anotherRound(const Loop &loop, Scalar counter);
  Scalar counterBehind(const Loop &loop, Scalar counter);
  Values carried(const Loop &loop, Scalar counter);
  Scalar enter(const Loop &loop, Values values, bool hasCounter);
  bool isWrittenOut(const typed::ForStatement &statement, std::int64_t rounds);
  bool unroll(const typed::ForStatement &statement);
  // SkippedLoops.cpp
  /// Loops whose values are taken for lanes that do not take the arm around
  /// them go round for those too.
  void skipFewerLoops();

  // Generator.cpp
  mlir::Location at(Span span);
  /// Where a span lies, with its end where it is on one line.
  mlir::LocationAttr rangeOf(Span span);
  /// Reports what cannot be generated; the value keeps the walk going.
  Value unsupported(Span span, const llvm::Twine &what,
                    llvm::StringRef code = "QN2060", llvm::StringRef hint = {});
  void complain(Span span, const llvm::Twine &what, llvm::StringRef code,
                llvm::StringRef hint = {});
  /// Asks a rule that the checker could not apply before compile-time
  /// parameters had values.
  bool holds(llvm::function_ref<bool(DiagnosticEngine &diagnostics)> rule);

  mlir::OpBuilder builder;
  ScalarBuilder b;
  const GenerationRequest &request;
  std::vector<DslError> &errors;
  Frame *frame = nullptr;
  const Substitution *substitution = nullptr;
  std::deque<Substitution> substitutions;
  std::deque<Frame> frames;
  /// Conditions around the text at hand, outermost first.
  llvm::SmallVector<Condition, 4> conditions;
  /// Indices that the text gave as `u64`, when it last did.
  llvm::DenseSet<mlir::Value> unsignedPositions;
  /// Where the text has a position, of those made last.
  llvm::DenseMap<mlir::Value, mlir::LocationAttr> positionPlaces;
  /// Loops that do not begin where their conditions do not hold.
  std::vector<SkippedLoop> skippedLoops;
  /// Reads under a substitution: guarded by a condition, or checked.
  bool readsAreGuarded = false, readsAreChecked = true;
  unsigned callDepth = 0;
  /// Names whose values are being made again, each for the next.
  unsigned remakeDepth = 0;
  /// Rounds of the loops around that are written out.
  std::int64_t roundsAround = 1;
  bool readsBack = false; ///< launches read what those in front stored
  const bool isBold;
  bool asksTooMuch = false;
  /// What was stored though a read on the way to it may miss.
  llvm::SmallVector<mlir::Value> mayMiss;
  /// Parameters whose functions were complained about.
  llvm::SmallPtrSet<const typed::ConstantParameter *, 2> misfits;
  llvm::StringSet<> axisNames;
  /// What `staged` made, and the operands that hold its scalars.
  struct Stage {
    Values like;
    llvm::SmallVector<mlir::Value, 2> tensors;
  };
  std::map<std::pair<Frame *, const Expression *>, Stage> stages;
  /// What sorts left of whole rows.
  std::map<std::pair<Frame *, const Expression *>, mlir::Value> orders;
  /// What scalar code gave for its types and operands.
  std::map<std::vector<const void *>, Binding::Made> calls;
  /// Of the arms that scatters stand in.
  llvm::DenseMap<std::pair<Frame *, const Expression *>,
                 llvm::SmallVector<Condition, 2>>
      scatterConditions;
  /// Scans made where their axes stand by themselves, and those axes.
  std::vector<std::pair<qn::ScanOp, llvm::SmallVector<Place, 4>>> scans;
  llvm::SmallVector<mlir::StringAttr, 8> kernelAxes;
  llvm::SmallVector<mlir::Type, 8> argumentTypes;
  llvm::SmallVector<std::int64_t, 8> argumentNumbers;
  unsigned operandNumber = 0, scalarNumber = 0;
  /// Arguments of the kernel for every parameter, then every result; -1:
  /// absent.
  llvm::SmallVector<int, 8> firstArgument;
  unsigned firstPart = 0;
  mlir::Block *body = nullptr;
  /// Of a `kernel`: numbers of blocks, then of threads in a block.
  llvm::SmallVector<mlir::Value, 6> geometry;
};

} // namespace quern::irgen
