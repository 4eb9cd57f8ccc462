// From a checked declaration and a Specialization to a kernel of the qn
// dialect.
#pragma once

#include "dsl/Dsl.h"
#include "dsl/Specialization.h"

namespace quern {

namespace typed {
struct Declaration;
class TypedModule;
} // namespace typed

struct GenerationRequest {
  /// Where functions named by constant arguments are looked up.
  const typed::TypedModule &module;
  /// An `elementwise` or a `rowwise` without errors.
  const typed::Declaration &declaration;
  const Specialization &specialization;
  const TargetInfo &target;
  /// Name of the kernel in the object; empty: the declaration's.
  std::string symbol = {};
};

/// Makes one kernel, with everything it calls inlined. Nothing comes back only
/// where the text asks for what is not there yet; `errors` says so at its
/// place.
std::optional<QnModule> generateQn(DslContext &context,
                                   const GenerationRequest &request,
                                   std::vector<DslError> &errors);

} // namespace quern
