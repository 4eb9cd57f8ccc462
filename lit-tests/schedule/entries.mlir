// On a GPU a dispatch has entries: here single threads for short rows of lanes,
// and blocks whose threads take turns along them, four elements at a time.
// RUN: quern-opt %s --qn-schedule=target=sm_90 | FileCheck %s
// What is printed is all that the lowering reads.
// RUN: quern-opt %s --qn-schedule=target=sm_90 | quern-opt --qn-to-loops=target=sm_90 -o %t.text
// RUN: quern-opt %s --qn-schedule=target=sm_90 --qn-to-loops=target=sm_90 | diff - %t.text

// CHECK: qn.dispatch stores of [0] parallel [R, C] lane C
// CHECK-NEXT: qn.entry thread lane C threads 128 vectors 1 copies 1 most_lanes 64 {
// CHECK-NEXT: qn.loop R tile 1 lanes 1 copies 1
// CHECK-NEXT: qn.loop C tile 1 lanes 1 copies 1
// CHECK-NEXT: }
// CHECK-NEXT: qn.entry block lane C threads 128 vectors 4 copies 4 {
// CHECK-NEXT: qn.loop R
// CHECK-NEXT: qn.loop C tile 2048 lanes 4 copies 4 shared
qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>, %a: f32,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %r = arith.mulf %v, %a : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// A product of 16 bits is made by single threads, by warps, or by blocks of two
// sizes whose tiles go through shared memory.
// CHECK-LABEL: qn.rowwise @mm
// CHECK: qn.matrix_product %{{.*}} of %{{.*}}, %{{.*}} row M column N depth K left %{{.*}} left_along_depth right
// CHECK: qn.entry thread {{.*}} most_lanes 7
// CHECK: qn.entry warp lane N {{.*}} most_lanes 64 product
// CHECK: qn.entry block lane N {{.*}} least_units 128 line_bytes 128 stages 4 band_tiles 8 product staged large
// CHECK-NEXT: qn.loop M tile 128
// CHECK-NEXT: qn.loop N tile 256
// CHECK: qn.entry block lane N {{.*}} product staged {
qn.rowwise @mm axes [M, N, K] (%x: !qn.tensor<f16, [M, K:1]>,
    %y: !qn.tensor<f16, [K, N:1]>, %out: !qn.tensor<f32, [M, N:1]>) {
  %a = qn.load %x : !qn.tensor<f16, [M, K:1]>
  %b = qn.load %y : !qn.tensor<f16, [K, N:1]>
  %wa = arith.extf %a : f16 to f32
  %wb = arith.extf %b : f16 to f32
  %p = arith.mulf %wa, %wb : f32
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
  qn.store %s, %out : f32, !qn.tensor<f32, [M, N:1]>
}
