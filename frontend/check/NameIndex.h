// The names of a text with what each of them stands for, for editors.
#pragma once

#include "frontend/source/SourceManager.h"
#include "frontend/typed/Builtin.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace quern {

namespace typed {
struct ConstantTable;
struct Declaration;
class Expression;
struct Variable;
} // namespace typed

/// What a name stands for. Two names mean the same when their definitions are
/// one place; builtins have none.
struct NameTarget {
  enum class Kind : std::uint8_t {
    Unknown, ///< defined by a text with an error
    Variable,
    Alias, ///< a `let` of a literal
    TypeParameter,
    ConstantParameter,
    Axis,
    Declaration,
    Constant,
    Builtin,
    Module
  };
  Kind kind = Kind::Unknown;
  Span definition; ///< the name where it is made; of a module its whole text
  /// The declaration itself, or the one in which the name is known.
  const typed::Declaration *declaration = nullptr;
  const typed::Variable *variable = nullptr;
  const typed::Expression *alias = nullptr;
  const typed::ConstantTable *constant = nullptr;
  std::optional<typed::Builtin> builtin;
  /// Of a type parameter, a constant parameter or an axis, in the declaration.
  unsigned index = 0;
};

struct NameUse {
  Span span;
  NameTarget target;

  bool isDefinition() const { return span == target.definition; }
};

/// Collects the names of one file while the checker looks them up. A name is
/// known by its address: what the checker looks up is a piece of the text, so
/// the address tells its place. The checker reads some texts several times; the
/// last reading counts.
class NameIndex {
public:
  explicit NameIndex(const SourceFile &file) : file(file) {}

  /// Where in the file `name` stands; invalid when it is no piece of it.
  Span placeOf(llvm::StringRef name) const {
    const char *begin = file.text().begin();
    if (name.empty() || name.begin() < begin || name.end() > file.text().end())
      return {};
    return file.span(name.begin() - begin, name.end() - begin);
  }
  void add(llvm::StringRef name, const NameTarget &target) {
    if (Span span = placeOf(name); span.valid())
      known[span.begin] = {span, target};
  }
  /// The uses in the order of the text.
  std::vector<NameUse> take();

private:
  const SourceFile &file;
  llvm::DenseMap<std::uint32_t, NameUse> known;
};

} // namespace quern
