// Branches are made on both sides and chosen per lane; a loop runs until no lane
// is left in it, and costs one test where none begins it.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @halve_task
// CHECK: %[[BEGINS:.*]] = vector.reduction <or>, %[[FIRST:.*]] : vector<8xi1>
// CHECK: scf.if %[[BEGINS]]
// CHECK: scf.while ({{.*}} = %[[V:.*]], {{.*}} = %[[V]], {{.*}} = %[[FIRST]])
// CHECK: %[[GOES:.*]] = arith.andi {{.*}} : vector<8xi1>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[GOES]]
// CHECK: scf.condition(%[[ANY]])
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xi64>
// CHECK: else
// CHECK-NEXT: scf.yield %[[V]]
qn.rowwise @halve axes [N] (%x: !qn.tensor<i64, [N:1]>,
    %out: !qn.tensor<i64, [N:1]>) {
  %v = qn.load %x : !qn.tensor<i64, [N:1]>
  %one = arith.constant 1 : i64
  %big = arith.constant 100 : i64
  %r = scf.while (%a = %v) : (i64) -> (i64) {
    %c = arith.cmpi sgt, %a, %one : i64
    scf.condition(%c) %a : i64
  } do {
  ^bb0(%a: i64):
    %large = arith.cmpi sgt, %a, %big : i64
    %next = scf.if %large -> (i64) {
      %h = arith.shrsi %a, %one : i64
      scf.yield %h : i64
    } else {
      %d = arith.subi %a, %one : i64
      scf.yield %d : i64
    }
    scf.yield %next : i64
  }
  qn.store %r, %out : i64, !qn.tensor<i64, [N:1]>
}
