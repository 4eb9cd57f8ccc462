// Of a batch of tiny products neither rows nor columns are packed, be the rows
// fewer than those of a register tile: packing would take longer than the
// products.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN

// WHEN: %[[TALL:.*]] = qn.size M
// WHEN: %[[ROWS:.*]] = arith.cmpi sge, %[[TALL]], %c8_i64
// WHEN: %[[SIZE:.*]] = arith.cmpi sle, %{{.*}}, %c512_i64
// WHEN: %[[TILE:.*]] = arith.ori %[[ROWS]], %[[SIZE]]
// WHEN: %[[SMALL:.*]] = arith.andi %{{.*}}, %[[TILE]]
// WHEN: %[[HERE:.*]] = arith.andi %{{.*}}, %[[SMALL]]
// WHEN: qn.dispatch stores when %[[HERE]]
qn.rowwise @bmm axes [B, M, N, K] (%x: !qn.tensor<f32, [B, M, K:1]>,
    %y: !qn.tensor<f32, [B, K, N:1]>, %out: !qn.tensor<f32, [B, M, N:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [B, M, K:1]>
  %b = qn.load %y : !qn.tensor<f32, [B, K, N:1]>
  %p = arith.mulf %a, %b : f32
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%p : f32) init (%zero : f32) over [K] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [B, M, N:1]>
}
