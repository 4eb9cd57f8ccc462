// Which of the launches of a contraction run for a call.
#pragma once

#include "dsl/schedule/Contraction.h"
#include "dsl/schedule/HostValues.h"

namespace quern {

/// Numbers of rows and elements from which other launches run; 0: none do.
struct ProductLimits {
  /// Fewer rows are not worth a tile: columns are added up where they lie, or
  /// the launch that reads in place runs.
  std::int64_t fewRows = 0;
  /// Fewer rows of windows are not worth a tile either, where lanes along the
  /// columns read neighbours.
  std::int64_t fewNearRows = 0;
  /// Columns of no more elements, all of the depth, are read where they lie by
  /// a register tile of its own.
  std::int64_t fewElements = 0;
  /// Rows of no more elements meet columns that lie along the sum where those
  /// lie: each vector of a column serves several rows.
  std::int64_t fewRowElements = 0;
  /// No more rows than these meet columns that are read once.
  std::int64_t streamedRows = 0;
  /// Few rows and columns are summed in parts from so many elements on.
  std::int64_t deepFrom = 0;
};

/// Conditions of which one holds; null for launches that there are not.
struct ProductConditions {
  mlir::Value inPlace, fewRows, small, deep, streamed, packed;
  mlir::Value packsRows; ///< rows are packed for `packed` and for `streamed`
};

/// Steps of a part of a long sum.
mlir::Value partOfSum(HostValues &host, const Product &product);

ProductConditions conditionsOf(HostValues &host, const KernelModel &model,
                               const TargetInfo &target, const Tiling &tiling,
                               const ProductLimits &limits);

} // namespace quern
