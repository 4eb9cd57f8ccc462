// Loading sources on behalf of the facade.
#include "frontend/Frontend.h"

using namespace quern;

const SourceFile *quern::loadSource(SourceManager &sources,
                                    llvm::StringRef path,
                                    DiagnosticEngine &diagnostics) {
  LoadFailure failure;
  const SourceFile *file = sources.load(path, failure);
  switch (failure) {
  case LoadFailure::None:
    break;
  case LoadFailure::NotFound:
    diagnostics.report({}, diag::FileNotFound, path);
    break;
  case LoadFailure::Directory:
    diagnostics.report({}, diag::FileIsDirectory, path);
    break;
  case LoadFailure::Unreadable:
    diagnostics.report({}, diag::FileUnreadable, path);
    break;
  case LoadFailure::TooLarge:
    diagnostics.report({}, diag::FileTooLarge, path,
                       SourceManager::maximumSize);
    break;
  }
  return file;
}
