// The places of a kernel that may fail when it runs.
#pragma once

#include "dsl/KernelAbi.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace quern {

class Sites {
public:
  Sites(std::vector<ErrorSite> &sites, llvm::StringRef kernel)
      : sites(sites), kernel(kernel) {}

  /// 1 + the number of the site that dimension `dimension` of `op` has. An
  /// index that is marked as one without a sign makes its site such a one.
  std::int64_t of(mlir::Operation *op, unsigned dimension, llvm::StringRef axis,
                  ErrorSite::Kind kind);

private:
  std::vector<ErrorSite> &sites;
  llvm::StringRef kernel;
  llvm::DenseMap<std::tuple<mlir::Operation *, unsigned>, std::int64_t> numbers;
};

} // namespace quern
