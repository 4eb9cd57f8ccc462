// bf16 and the floats of 8 bits are converted by integer code on every target;
// f16 only where there is no instruction.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,V4
// RUN: quern-opt %s --qn-schedule=target=x86-64-v2 --qn-to-loops=target=x86-64-v2 | FileCheck %s --check-prefixes=CHECK,V2

// CHECK-LABEL: llvm.func @round_task
// CHECK-NOT: arith.truncf {{.*}} to vector<{{[0-9]+}}xbf16>
// CHECK: arith.shrui
// V4: arith.truncf {{.*}} to vector<16xf16>
// V2-NOT: arith.truncf
qn.rowwise @round axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %b: !qn.tensor<bf16, [C:1]>, %h: !qn.tensor<f16, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %r = arith.truncf %v : f32 to bf16
  %s = arith.truncf %v : f32 to f16
  qn.store %r, %b : bf16, !qn.tensor<bf16, [C:1]>
  qn.store %s, %h : f16, !qn.tensor<f16, [C:1]>
}
