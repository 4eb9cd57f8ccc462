// A count of what holds: the bits of a mask where lanes have masks, sums of
// lanes elsewhere.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s --check-prefix=LANES

// CHECK-LABEL: llvm.func @count_task
// CHECK: scf.for {{.*}} -> (i64, i64, i64, i64)
// CHECK: vector.bitcast {{.*}} : vector<16xi1> to vector<1xi16>
// CHECK: math.ctpop {{.*}} : i16
// CHECK: arith.extui {{.*}} : i16 to i64
// The rest counts under its mask.
// CHECK: scf.for
// CHECK: %[[REST:.*]] = arith.cmpi slt, {{.*}} : vector<16xi32>
// CHECK: arith.andi {{.*}}%[[REST]]
// CHECK: math.ctpop
// CHECK-NOT: vector.shuffle
// CHECK: llvm.store {{.*}} : i64
// LANES-LABEL: llvm.func @count_task
// LANES-NOT: math.ctpop
// LANES: arith.extui {{.*}} : vector<8xi1> to vector<8xi64>
qn.rowwise @count axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<i64, [R:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %c = arith.cmpf ogt, %v, %zero : f32
  %s = qn.reduce (%c : i1) init (%none : i64) over [C] step {
  ^bb0(%a: i64, %e: i1):
    %w = arith.extui %e : i1 to i64
    %n = arith.addi %a, %w : i64
    qn.yield %n : i64
  } merge {
  ^bb0(%a: i64, %b: i64):
    %n = arith.addi %a, %b : i64
    qn.yield %n : i64
  }
  qn.store %s, %out : i64, !qn.tensor<i64, [R:1]>
}

// A condition that is the same everywhere is spread in front of what counts,
// not behind the end of the loop that made the truth values.
// CHECK-LABEL: llvm.func @nested_task
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: vector.broadcast %{{.*}} : i1 to vector<8xi1>
// CHECK: math.ctpop
qn.rowwise @nested axes [C, N] (%x: !qn.tensor<i1, [C, N:1]>,
    %out: !qn.tensor<i64, []>) {
  %v = qn.load %x : !qn.tensor<i1, [C, N:1]>
  %true = arith.constant true
  %none = arith.constant 0 : i64
  %all = qn.reduce (%v : i1) init (%true : i1) over [C] step {
  ^bb0(%a: i1, %e: i1):
    %n = arith.andi %a, %e : i1
    qn.yield %n : i1
  } merge {
  ^bb0(%a: i1, %b: i1):
    %n = arith.andi %a, %b : i1
    qn.yield %n : i1
  }
  %s = qn.reduce (%all : i1) init (%none : i64) over [N] where %true step {
  ^bb0(%a: i64, %e: i1):
    %w = arith.extui %e : i1 to i64
    %n = arith.addi %a, %w : i64
    qn.yield %n : i64
  } merge {
  ^bb0(%a: i64, %b: i64):
    %n = arith.addi %a, %b : i64
    qn.yield %n : i64
  }
  qn.store %s, %out : i64, !qn.tensor<i64, []>
}
