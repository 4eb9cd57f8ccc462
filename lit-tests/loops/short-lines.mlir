// Lines of a few elements: lanes run along the operand, and lines of two to four
// elements that follow each other are put together in registers. Longer ones
// are stored element by element, and squares serve those of 16 and more.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN

// WHEN: %[[SHORT:.*]] = arith.cmpi slt, %{{.*}}, %c16_i64
// WHEN: qn.dispatch stores when %[[SHORT]] of [0] {{.*}} interleave
// CHECK-LABEL: llvm.func @pixels_1_task
// CHECK: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-2: vector.shuffle
// CHECK-COUNT-2: llvm.store {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: scf.if
// CHECK-COUNT-3: llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-3: llvm.store {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: scf.if
// CHECK-COUNT-4: llvm.store {{.*}} : vector<16xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK: llvm.intr.masked.scatter
qn.rowwise @pixels axes [P, C] (%x: !qn.tensor<f32, [C, P:1]>,
    %out: !qn.tensor<f32, [P, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C, P:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [P, C:1]>
}
