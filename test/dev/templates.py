"""The texts `./dev new` writes; braces of the target language are doubled."""

_BUILD = "quern build --emit={} %s | FileCheck %s"
_HSACO = """\
quern build --emit=hsaco --target=gfx942 --output=%t.hsaco %s
# RUN: llvm-objdump -d %t.hsaco | FileCheck %s"""

# Of each folder whose tests are `.qn`: what is run, and what is seen.
_LIT_RUNS = {
    "amdgpu": (_HSACO, "# CHECK: s_endpgm"),
    "ast": (_BUILD.format("ast"), "# CHECK: elementwise twice"),
    "check": ("quern check --verify-diagnostics %s", "# Mistakes have their expectation."),
    "fmt": ("quern fmt --check %s", "# What is laid out as it must be."),
    "ptx": (_BUILD.format("ptx --target=sm_80"), "# CHECK: .entry twice"),
    "qn": (_BUILD.format("qn"), "# CHECK: qn.rowwise @twice"),
    "tokens": (_BUILD.format("tokens"), "# CHECK: 'twice'"),
    "typed": (_BUILD.format("typed"), "# CHECK: elementwise twice"),
}
LIT_QN = {
    stage: f"""\
# What this shows.
# RUN: {command}

{seen}
elementwise twice[T: Number](x: T) -> T:
    return x + x
"""
    for stage, (command, seen) in _LIT_RUNS.items()
}

LIT_MLIR = """\
// What this shows.
// RUN: quern-opt %s | FileCheck %s

// CHECK: module
module {}
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
def Qn_{camel}Op : Qn_PureOp<"{snake}"> {{
  let summary = "what it yields";
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{{
    $input attr-dict `:` type($input) `->` type($result)
  }}];
}}

"""

OPERATION_TEST = """\
// The operation qn.{snake} survives printing and parsing.
// RUN: quern-opt %s | quern-opt | FileCheck %s

// CHECK-LABEL: qn.rowwise @kernel
qn.rowwise @kernel axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {{
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  // CHECK: qn.{snake}
  %w = qn.{snake} %v : f32 -> f32
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

**Fix.** What to write instead.
"""
