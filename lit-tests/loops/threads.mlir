// Threads of a block become vectors and loops, cut where the block waits.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// What a later stage needs and cannot make again is kept, one place a thread;
// neighbours are read as one vector, under the mask of the guard.
// CHECK-LABEL: llvm.func @stages_plan
// CHECK-LABEL: llvm.func @stages_task
// CHECK: %[[SHARED:.*]] = llvm.alloca %{{.*}} x f32
// CHECK: %[[KEPT:.*]] = llvm.alloca %{{.*}} x f32
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %{{.*}} : vector<8xi32>
// CHECK: scf.if
// CHECK: llvm.intr.masked.load %{{.*}}, %[[MASK]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[KEPT]]
// CHECK: llvm.store %{{.*}}, %[[PLACE]] {{.*}} : vector<8xf32>
// CHECK: scf.for
// CHECK: %[[FROM:.*]] = llvm.getelementptr %[[KEPT]]
// CHECK: llvm.load %[[FROM]] {{.*}} -> vector<8xf32>
// CHECK: llvm.intr.masked.store
qn.kernel @stages axes [N] (%x: !qn.tensor<f32, [N:1]>, %out: !qn.tensor<f32, [N:1]>) {
  %n = qn.size N
  %c64 = arith.constant 64 : i64
  %c63 = arith.constant 63 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  %up = arith.addi %n, %c63 : i64
  %blocks = arith.divsi %up, %c64 : i64
  qn.launch grid(%blocks, %one, %one) block(%c64, %one, %one)
  %s = qn.shared : memref<64xf32, 3>
  %b = qn.block x
  %t = qn.thread x
  %first = arith.muli %b, %c64 : i64
  %i = arith.addi %first, %t : i64
  %in = arith.cmpi slt, %i, %n : i64
  %v = scf.if %in -> f32 {
    %r = qn.read %x[%i] checked : !qn.tensor<f32, [N:1]> -> f32
    scf.yield %r : f32
  } else {
    scf.yield %zero : f32
  }
  qn.write %v, %s[%t] checked : f32, memref<64xf32, 3>
  qn.barrier block
  %back = arith.subi %c63, %t : i64
  %w = qn.read %s[%back] checked : memref<64xf32, 3> -> f32
  %sum = arith.addf %v, %w : f32
  scf.if %in {
    qn.write %sum, %out[%i] checked : f32, !qn.tensor<f32, [N:1]>
  }
}

// A loop around a barrier is one loop of the block; what goes round in every
// thread is kept, what all threads share is a scalar.
// CHECK-LABEL: llvm.func @rounds_task
// CHECK: scf.for %[[ROUND:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i64)
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} -> vector<8xi64>
qn.kernel @rounds axes [N] (%out: !qn.tensor<i64, [N:1]>) {
  %c32 = arith.constant 32 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  qn.launch grid(%one, %one, %one) block(%c32, %one, %one)
  %t = qn.thread x
  %s = qn.shared : memref<32xi64, 3>
  %start = qn.read %out[%t] checked : !qn.tensor<i64, [N:1]> -> i64
  %mine, %all = scf.for %k = %zero to %c32 step %one iter_args(%a = %start, %b = %zero) -> (i64, i64) : i64 {
    qn.write %a, %s[%t] : i64, memref<32xi64, 3>
    qn.barrier block
    %w = qn.read %s[%k] checked : memref<32xi64, 3> -> i64
    %next = arith.addi %a, %w : i64
    %more = arith.addi %b, %k : i64
    qn.barrier block
    scf.yield %next, %more : i64, i64
  }
  %sum = arith.addi %mine, %all : i64
  qn.write %sum, %out[%t] checked : i64, !qn.tensor<i64, [N:1]>
}

// Shared memory belongs to one task: a plain update. A tensor does not.
// CHECK-LABEL: llvm.func @counts_task
// CHECK-NOT: llvm.atomicrmw
// CHECK: llvm.store %{{.*}} : i32, !llvm.ptr
// CHECK: llvm.atomicrmw add %{{.*}} monotonic : !llvm.ptr, i32
qn.kernel @counts axes [N] (%out: !qn.tensor<i32, [N:1]>) {
  %c8 = arith.constant 8 : i64
  %one = arith.constant 1 : i64
  %i = arith.constant 1 : i32
  qn.launch grid(%one, %one, %one) block(%c8, %one, %one)
  %s = qn.shared : memref<4xi32, 3>
  %t = qn.thread x
  %two = arith.constant 2 : i64
  %bin = arith.shrui %t, %two : i64
  %old = qn.atomic addi %i, %s[%bin] order relaxed scope block : i32, memref<4xi32, 3> -> i32
  %was = qn.atomic addi %i, %out[%bin] order relaxed scope device : i32, !qn.tensor<i32, [N:1]> -> i32
}
