// A loop whose number is compared with one that is linear in the lane becomes
// three: only the rounds in the middle compare.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @ranks_task
// CHECK: %[[MOST:.*]] = arith.addi %{{.*}}, %c15_i64
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[FIRST:.*]] step %{{.*}} iter_args
// CHECK-NOT: arith.cmpi slt
// CHECK: arith.cmpi eq
// CHECK: scf.for %[[MIDDLE:.*]] = %[[FIRST]] to %[[LAST:.*]] step %{{.*}} iter_args
// CHECK: arith.trunci %[[MIDDLE]]
// CHECK: arith.cmpi {{slt|sgt}}
// CHECK: scf.for %{{.*}} = %[[LAST]] to
// CHECK-NOT: arith.cmpi
// CHECK: llvm.store
qn.kernel @ranks axes [N] (%x: !qn.tensor<i32, [N:1]>, %out: !qn.tensor<i32, [N:1]>) {
  %n = qn.size N
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c256 = arith.constant 256 : i64
  %none = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %false = arith.constant false
  qn.launch grid(%one, %one, %one) block(%c256, %one, %one)
  %t = qn.thread x
  %own = qn.read %x[%t] : !qn.tensor<i32, [N:1]> -> i32
  %rank = scf.for %i = %zero to %c256 step %one iter_args(%sum = %none) -> (i32) : i64 {
    %before = arith.cmpi slt, %i, %t : i64
    %counts = scf.if %before -> (i1) {
      %other = qn.read %x[%i] : !qn.tensor<i32, [N:1]> -> i32
      %same = arith.cmpi eq, %other, %own : i32
      scf.yield %same : i1
    } else {
      scf.yield %false : i1
    }
    %more = arith.addi %sum, %step : i32
    %next = arith.select %counts, %more, %sum : i32
    scf.yield %next : i32
  }
  qn.write %rank, %out[%t] : i32, !qn.tensor<i32, [N:1]>
}

// Updates of shared memory by lanes at computed places go through memory, and
// are straight code where all lanes take part.
// CHECK-LABEL: llvm.func @counts_task
// CHECK: %[[OFFSETS:.*]] = llvm.alloca %{{.*}} x i32
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: scf.if %[[ALL]]
// CHECK: llvm.store volatile %{{.*}} : vector<16xi32>
// CHECK: %[[AT:.*]] = llvm.load volatile
// CHECK: llvm.getelementptr %{{.*}}[%[[AT]]]
// CHECK-NOT: scf.if
// CHECK: } else {
qn.kernel @counts axes [N] (%x: !qn.tensor<i32, [N:1]>, %out: !qn.tensor<i32, [N:1]>) {
  %one = arith.constant 1 : i64
  %c256 = arith.constant 256 : i64
  %step = arith.constant 1 : i32
  qn.launch grid(%one, %one, %one) block(%c256, %one, %one)
  %bins = qn.shared : memref<256xi32, 3>
  %t = qn.thread x
  %own = qn.read %x[%t] : !qn.tensor<i32, [N:1]> -> i32
  %bin = arith.extsi %own : i32 to i64
  %old = qn.atomic addi %step, %bins[%bin] checked order relaxed scope block : i32, memref<256xi32, 3> -> i32
  qn.barrier block
  %all = qn.read %bins[%t] : memref<256xi32, 3> -> i32
  qn.write %all, %out[%t] : i32, !qn.tensor<i32, [N:1]>
}
