// The hand-over from the checker: a module with names resolved and types known.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/Support/Allocator.h"

#include <memory>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace quern {
class SourceManager;
}

namespace quern::typed {

class TypeContext;

/// Immutable once the checker has made it. Declarations of modules it uses live
/// in those modules, which it keeps alive. Spans are of the SourceManager it
/// was checked with.
class TypedModule {
public:
  TypedModule(llvm::StringRef name, const SourceManager &sources);
  ~TypedModule();
  TypedModule(const TypedModule &) = delete;
  TypedModule &operator=(const TypedModule &) = delete;

  llvm::StringRef name() const { return moduleName; }
  llvm::StringRef documentation() const { return moduleDocumentation; }
  const SourceManager &sources() const { return sourceManager; }
  /// In the order of the text.
  llvm::ArrayRef<const Declaration *> declarations() const { return declared; }
  llvm::ArrayRef<const ConstantTable *> constants() const { return tables; }
  /// Null when there is none; with both a `fn` and a `reduction` of the name
  /// the former.
  const Declaration *find(llvm::StringRef name) const;
  const Declaration *findReduction(llvm::StringRef name) const;
  /// "did you mean `x`?" for a name that is not there, or empty.
  std::string hintFor(llvm::StringRef missing) const;
  /// The modules it uses, in the order of the text, the prelude's last.
  llvm::ArrayRef<std::shared_ptr<const TypedModule>> uses() const {
    return used;
  }
  std::size_t bytes() const { return allocator.getTotalMemory(); }

private:
  friend class ModuleBuilder;

  std::string moduleName;
  const SourceManager &sourceManager;
  llvm::StringRef moduleDocumentation;
  llvm::BumpPtrAllocator allocator;
  std::unique_ptr<TypeContext> types;
  std::vector<const Declaration *> declared;
  std::vector<const ConstantTable *> tables;
  std::vector<std::shared_ptr<const TypedModule>> used;
};

/// The `typed` dump: the module as text, types and axis sets written out.
void print(const TypedModule &module, llvm::raw_ostream &out);
void print(const Declaration &declaration, llvm::raw_ostream &out);
/// One expression, for messages and tests: `x[i] * acc(T)(y)`.
void print(const Expression &expression, const Declaration &declaration,
           llvm::raw_ostream &out);
/// `T`, `acc(T)`, `f32`.
std::string spelling(ScalarType type, const Declaration &declaration);
/// The same of any type, with its axes: `f32 {R, C}`.
std::string spelling(const Type &type, const Declaration &declaration);

} // namespace quern::typed
