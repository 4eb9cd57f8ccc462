// Arrays beyond what a stack holds lie in the worker's own workspace, which the plan asks for.
// RUN: quern-opt %s --qn-schedule --qn-to-loops | FileCheck %s

// CHECK-LABEL: llvm.func @arrays_plan
// CHECK: arith.constant 4194304 : i64
// CHECK-LABEL: llvm.func @arrays_task
// CHECK-SAME: (%[[PACKET:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %[[WORKER:.*]]: i64)
// CHECK: %[[OWN:.*]] = arith.constant 4194304 : i64
// CHECK: %[[SKIP:.*]] = arith.muli %[[WORKER]], %[[OWN]]
// CHECK-NOT: llvm.alloca
// CHECK: %[[AT:.*]] = arith.addi %[[SKIP]]
// CHECK: llvm.getelementptr %{{.*}}[%[[AT]]]
qn.kernel @arrays axes [N] (%n: i64) {
  %one = arith.constant 1 : i64
  %v = arith.constant 1.0 : f32
  qn.launch grid(%one, %one, %one) block(%one, %one, %one)
  %s = qn.shared : memref<1024x1024xf32, 3>
  qn.write %v, %s[%one, %one] : f32, memref<1024x1024xf32, 3>
}
