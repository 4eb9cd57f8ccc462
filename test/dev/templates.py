"""The texts `./dev new` writes; braces of the target language are doubled."""

LIT_QN = """\
# What this shows.
# RUN: quern build --emit={stage} %s | FileCheck %s

# CHECK: twice
fn twice[T: Number](x: T) -> T:
    return x + x
"""

LIT_MLIR = """\
// What this shows.
// RUN: quern-opt %s | FileCheck %s

// CHECK: module
module {{}}
"""

KERNEL_HEAD = '''\
"""What the family is for; its formula; its accuracy."""

'''
KERNEL = (
    KERNEL_HEAD
    + """\
elementwise {name}[T: Float](x: T) -> T:
    return x
"""
)

PASS = """\
// The pass {name}: what it does.
#include "dsl/passes/Passes.h"

#include "dsl/dialect/Dialect.h"

namespace quern {{
#define GEN_PASS_DEF_{upper}
#include "dsl/passes/Passes.h.inc"
}} // namespace quern

using namespace quern;

namespace {{
struct {camel}Pass : quern::impl::{camel}Base<{camel}Pass> {{
  using {camel}Base::{camel}Base;

  void runOnOperation() override {{
    for (qn::RowwiseOp kernel : getOperation().getOps<qn::RowwiseOp>())
      kernel.walk([](mlir::Operation *) {{}});
  }}
}};
}} // namespace
"""

PASS_ROW = """\
def {camel} : Pass<"{name}", "::mlir::ModuleOp"> {{
  let summary = "What it does";
}}

"""

PASS_TEST = """\
// What the pass does to the smallest kernel that shows it.
// RUN: quern-opt --{name} %s | FileCheck %s

// CHECK-LABEL: qn.rowwise @copy
qn.rowwise @copy axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {{
  // CHECK: qn.load
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
}}
"""

OPERATION = """\
def Qn_{camel}Op : Qn_PureOp<"{name}"> {{
  let summary = "what it yields";
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{{
    $input attr-dict `:` type($input) `->` type($result)
  }}];
}}

"""

OPERATION_TEST = """\
// The operation qn.{name} survives printing and parsing.
// RUN: quern-opt %s | quern-opt | FileCheck %s

// CHECK-LABEL: qn.rowwise @kernel
qn.rowwise @kernel axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {{
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  // CHECK: qn.{name}
  %w = qn.{name} %v : f32 -> f32
  qn.store %w, %out : f32, !qn.tensor<f32, [C:1]>
}}
"""

DIAGNOSTIC_TEST = """\
# {code}: {title}.
# RUN: quern check --verify-diagnostics %s

fn wrong[T: Number](x: T) -> T:
    return x  # expected-error {{{{{title}}}}}
"""

DIAGNOSTIC_PAGE = """\
# {code}: {title}

**Cause.** What the {by} found, and the rule behind it.

**Example.**

```qn
fn wrong[T: Number](x: T) -> T:
    return x
```

**Mend.** What to write instead.
"""
