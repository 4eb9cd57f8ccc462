// A kernel comes out in the LLVM dialect alone.
// RUN: quern-opt %s --qn-schedule --qn-to-loops --loops-to-llvm | FileCheck %s

// CHECK: llvm.func @relu_plan(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: llvm.func @relu_task(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-NOT: {{arith|scf|vector|cf}}.
// CHECK: llvm.cond_br
// CHECK: llvm.intr.maximum({{.*}}) : (vector<16xf32>, vector<16xf32>)
qn.rowwise @relu axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %zero = arith.constant 0.0 : f32
  %r = arith.maximumf %v, %zero : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [C:1]>
}
