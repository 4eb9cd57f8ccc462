// What a ModuleLibrary keeps.
#pragma once

#include "frontend/check/ModuleChecker.h"

#include "llvm/ADT/StringMap.h"

namespace quern {

struct ModuleLibrary::State {
  State(SourceManager &sources, ModuleLoader loader,
        std::vector<std::string> preludeNames)
      : sources(sources), loader(std::move(loader)),
        preludeNames(std::move(preludeNames)) {}

  SourceManager &sources;
  ModuleLibrary *base = nullptr; ///< asked first
  ModuleLoader loader;
  std::vector<std::string> preludeNames;
  std::vector<std::shared_ptr<const typed::TypedModule>> prelude;
  bool isPreludeStarted = false;
  llvm::StringMap<std::shared_ptr<const typed::TypedModule>> modules;
  std::vector<std::string> loading; ///< for cycles
  std::vector<const SourceFile *> files;
  llvm::DenseMap<const typed::TypedModule *, check::SymbolTable> names;
};

} // namespace quern
