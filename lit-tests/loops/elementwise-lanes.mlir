// An elementwise kernel runs in vectors along its contiguous axis, unrolled, and
// ends in a masked loop where the target has masks, in one of single vectors and a scalar one where not.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,V4
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,V3

// CHECK-LABEL: llvm.func @scale_plan
// CHECK-LABEL: llvm.func @scale_task(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %{{.*}}: i64)
// A broadcast scalar is spread outside of every loop.
// V4: %[[FACTOR:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
// V3: %[[FACTOR:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: scf.for
// V4-COUNT-4: arith.mulf %{{.*}}, %[[FACTOR]] : vector<16xf32>
// V3-COUNT-4: arith.mulf %{{.*}}, %[[FACTOR]] : vector<8xf32>
// CHECK: scf.for
// V4: %[[MASK:.*]] = arith.cmpi slt
// V4: llvm.intr.masked.load %{{.*}}, %[[MASK]]
// V4: llvm.intr.masked.store %{{.*}}, %{{.*}}, %[[MASK]]
// V3: arith.mulf %{{.*}}, %[[FACTOR]] : vector<8xf32>
// V3: llvm.store {{.*}} : vector<8xf32>
// V3: scf.for
// V3-NOT: vector
// V3: arith.mulf %{{.*}}, %{{.*}} : f32
qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>, %a: f32,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %r = arith.mulf %v, %a : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [C:1]>
}

// Small floats that are only moved are not widened, and have more lanes.
// V4-LABEL: llvm.func @moved_task(
// V4: arith.select %{{.*}} : vector<32xi1>, vector<32xi16>
// V3-LABEL: llvm.func @moved_task(
// V3: arith.select %{{.*}} : vector<16xi1>, vector<16xi16>
qn.rowwise @moved axes [C] (%x: !qn.tensor<bf16, [C:1]>,
    %y: !qn.tensor<bf16, [C:1]>, %c: !qn.tensor<i1, [C:1]>,
    %out: !qn.tensor<bf16, [C:1]>) {
  %a = qn.load %x : !qn.tensor<bf16, [C:1]>
  %b = qn.load %y : !qn.tensor<bf16, [C:1]>
  %t = qn.load %c : !qn.tensor<i1, [C:1]>
  %r = arith.select %t, %a, %b : bf16
  qn.store %r, %out : bf16, !qn.tensor<bf16, [C:1]>
}
