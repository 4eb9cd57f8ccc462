// The recursive-descent parser; its methods are spread over files by construct.
#pragma once

#include "frontend/ast/Decl.h"
#include "frontend/diagnostics/Engine.h"
#include "frontend/lex/Lexer.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace quern {

/// One mistake, one error: after a report the parser is *broken* and silent
/// until it has resumed behind the bracket, or at the line, where it went
/// wrong. The lexer guarantees balanced brackets and blocks.
class Parser {
public:
  Parser(const TokenBuffer &tokens, DiagnosticEngine &diagnostics,
         ast::Module &module)
      : tokens(tokens), diagnostics(diagnostics), module(module),
        arena(module.arena) {}
  void parseModule();

private:
  using Kind = TokenKind;

  // Parser.cpp: looking, consuming, failing
  Kind peek(std::size_t ahead = 0) const {
    std::size_t at = position + ahead;
    return at < tokens.size() ? tokens.kind(at) : Kind::EndOfFile;
  }
  bool at(Kind kind) const { return tokens.kind(position) == kind; }
  Span here() const { return tokens.span(position); }
  Span previous() const { return tokens.span(position - 1); }
  Span since(Span begin) const {
    return position == 0 ? begin : join(begin, previous());
  }
  llvm::StringRef text() const { return tokens.text(position); }
  Span advance() {
    Span span = here();
    position += !at(Kind::EndOfFile);
    return span;
  }
  bool accept(Kind kind) {
    bool isThere = at(kind);
    if (isThere)
      advance();
    return isThere;
  }
  /// `hint` is for where no keyword stands in place of a name.
  bool expect(Kind kind, llvm::StringRef hint = {});
  std::string found() const;
  void skipToLineEnd();
  void skipBlock();
  /// Ends a bracketed list: behind an error skips to the bracket and resumes.
  void closeBracket(Kind closer);
  void endStatement();
  bool lineEnded() const;
  bool startsDeclaration() const;
  bool reportMisplaced();
  llvm::StringRef operandHint() const;
  std::string lineHint() const;
  bool lineHas(Kind kind) const;
  bool isAssignedLater(llvm::StringRef name) const;
  llvm::StringRef colonHint() const;
  bool beginsCComment() const;
  bool reportForeignWord();
  /// The keyword that the name here, or the one before it, may have meant.
  std::string keywordHint() const;
  ast::Identifier nameHere() {
    const char *data = text().data();
    return {data, advance()};
  }
  ast::Identifier parseName();
  ast::Identifier parseAnyName(); ///< keywords too
  bool atAnyName() const { return at(Kind::Identifier) || isKeyword(peek()); }
  template <typename... Arguments, typename... Given>
  DiagnosticBuilder fail(Span span, const DiagnosticKind<Arguments...> &kind,
                         const Given &...given) {
    if (broken)
      return DiagnosticBuilder(nullptr);
    broken = true;
    return diagnostics.report(span, kind, given...);
  }
  /// Elements of one bracketed list, so that memory stays in proportion.
  static constexpr unsigned maximumElements = 1u << 16;
  /// Parses `item` between commas up to `closer`, which is consumed.
  void parseList(Kind closer, llvm::function_ref<void()> item);

  /// Counts recursion; beyond the limit it has failed and must be left.
  class DepthGuard {
  public:
    explicit DepthGuard(Parser &parser);
    ~DepthGuard() { --parser.depth; }
    explicit operator bool() const { return good; }

  private:
    Parser &parser;
    bool good;
  };

  // ParseDecl.cpp
  void parseTopLevel();
  void reportTopLevel(llvm::ArrayRef<ast::Attribute> attributes);
  ast::Decl *parseDeclaration();
  ast::Identifier parseModulePath();
  ast::UseDecl *parseUse();
  ast::UseDecl *parseForeignImport();
  ast::Decl *parseForeignCallable();
  bool atNoResult() const;
  ast::ConstDecl *parseConst();
  ast::CallableDecl *parseCallable(ast::Decl::Kind kind);
  ast::List<ast::Param> parseParams(bool typesRequired);
  ast::Param parseParam(bool typesRequired);
  void reportParameterWord();
  void reportParameterColon(llvm::StringRef word);
  llvm::StringRef parseDocumentation();

  // ParseGeneric.cpp
  ast::List<ast::Attribute> parseAttributes();
  ast::Attribute parseAttribute();
  ast::AttributeArgument parseAttributeArgument();
  bool atTupleOfNames() const;
  ast::List<ast::GenericParam> parseGenerics();
  ast::GenericParam parseGeneric();
  const ast::Choice *parseChoice();

  // ParseReduction.cpp
  ast::ReductionDecl *parseReduction();
  void parseReductionPart(ast::ReductionDecl &decl, Span &state);
  void parseState(ast::ReductionDecl &decl);
  bool standsInLines(const ast::ReductionDecl &decl, bool isSecond) const;
  void reportStateLines(const ast::ReductionDecl &decl, Span first);
  const ast::ReductionPart *parsePart(ast::Identifier keyword);
  void checkReductionParts(const ast::ReductionDecl &decl, Span state);

  // ParseType.cpp
  const ast::Type *parseType();
  const ast::Type *parseBaseType();
  const ast::Type *parseTupleType();
  const ast::Type *parseFunctionType();
  ast::TypeField parseTypeField();
  ast::List<ast::Dimension> parseDimensions();
  ast::Dimension parseDimension();
  ast::Dimension parseGroup();
  const ast::Type *errorType();
  const ast::Type *reportDottedType(Span begin);

  // ParseStmt.cpp
  ast::Block parseBlock(bool bodyMayBeExpression = false);
  ast::Block parseInlineBlock(bool bodyMayBeExpression);
  ast::Block reportMissingBlock(Span header, bool headerBroken);
  void parseStatements(llvm::SmallVectorImpl<const ast::Stmt *> &into);
  void skipRestOfBlock();
  void skipHeaderAndBlock();
  const ast::Stmt *parseStatement();
  const ast::Stmt *parseSimpleStatement();
  const ast::Stmt *reportDanglingElse();
  const ast::Stmt *parseLet();
  const ast::Stmt *parseVar();
  const ast::Stmt *parseReturn();
  const ast::Stmt *parseLaunch();
  const ast::Stmt *parseStorage();
  const ast::Expr *parseInitialValue(llvm::StringRef keyword);
  ast::List<const ast::Expr *> parseExtents(llvm::StringRef word);
  ast::Pattern parsePattern();

  // ParseAssign.cpp
  const ast::Stmt *parseExpressionOrAssignment();
  const ast::Stmt *finishAssignment(Span begin, const ast::Expr *target);
  std::optional<ast::BinaryOp> compoundOperator() const;
  bool compoundAt(std::size_t ahead) const;
  bool headerFollows() const;

  // ParseControl.cpp
  const ast::Stmt *parseIf();
  const ast::Expr *parseCondition(llvm::StringRef keyword);
  const ast::Stmt *parseFor();
  const ast::Stmt *parseEach();
  const ast::Stmt *parseWhile();

  // ParseExpr.cpp
  const ast::Expr *parseExpr();
  const ast::Expr *parseExprList(); ///< `a, b` becomes a tuple
  const ast::Expr *parseBinary(unsigned minimum);
  const ast::Expr *parseComparisons(const ast::Expr *left, ast::BinaryOp first);
  const ast::Expr *parseUnary();
  std::optional<ast::BinaryOp> binaryOperator() const;
  std::size_t endOfBracket() const;
  bool reportForeignOperator();
  const ast::Expr *errorExpr();
  /// Notes that `node` is one higher than the highest expression since
  /// `height` was `before`, and fails when trees grow too deep to walk.
  const ast::Expr *grow(const ast::Expr *node, unsigned before);

  // ParsePostfix.cpp
  const ast::Expr *parsePostfix(const ast::Expr *base);
  const ast::Expr *parseCall(const ast::Expr *callee,
                             ast::List<ast::Argument> brackets);
  ast::List<ast::Argument> parseIndices();
  const ast::Expr *makeIndex(const ast::Expr *base,
                             ast::List<ast::Argument> indices);
  ast::Argument parseArgument();
  const ast::OverClause *parseOver(unsigned operandCount);
  ast::OverAxis parseOverAxis();

  // ParsePrimary.cpp
  const ast::Expr *parsePrimary();
  bool peekForeignLiteral();
  const ast::Expr *reportNoExpression();
  const ast::Expr *parseInteger();
  const ast::Expr *parseFloat();
  const ast::Expr *parseString();
  const ast::Expr *parseParenthesised();
  const ast::Expr *parseListLiteral();
  const ast::Expr *parseExtern();
  llvm::StringRef unescape(Span span, llvm::StringRef text);

  const TokenBuffer &tokens;
  DiagnosticEngine &diagnostics;
  ast::Module &module;
  ast::Arena &arena;
  std::size_t position = 0;
  unsigned blocks = 0; ///< open around this place
  unsigned depth = 0;  ///< of the parser's own recursion
  unsigned height = 0; ///< of the expression read last
  bool broken = false;
  /// Keywords that stood where a name is made: where a value is wanted they are
  /// that mistake once more.
  llvm::SmallVector<Kind, 2> keywordNames;
  /// Where a docstring at the begin of the next block goes.
  llvm::StringRef *pendingDocumentation = nullptr;
};

} // namespace quern
