// Operations of explicit kernels survive printing and parsing.
// RUN: quern-opt %s | quern-opt | FileCheck %s

// CHECK-LABEL: qn.kernel @all axes [N] wide
qn.kernel @all axes [N] wide (%x: !qn.tensor<f32, [N:1]>, %n: i64) {
  %c64 = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  // CHECK: qn.launch grid(%{{.*}}, %{{.*}}, %{{.*}}) block(%[[B:.*]], %{{.*}}, %{{.*}})
  qn.launch grid(%n, %one, %one) block(%c64, %one, %one)
  // CHECK: %[[T:.*]] = qn.thread x
  %t = qn.thread x
  // CHECK: qn.block y
  %y = qn.block y
  // CHECK: qn.lane
  %lane = qn.lane
  // CHECK: %[[S:.*]] = qn.shared : memref<64x2xf32, 3>
  %s = qn.shared : memref<64x2xf32, 3>
  // CHECK: qn.local : memref<4xi32, 5>
  %a = qn.local : memref<4xi32, 5>
  // CHECK: %[[V:.*]] = qn.read %{{.*}}[%[[T]]] checked : !qn.tensor<f32, [N:1]> -> f32
  %v = qn.read %x[%t] checked : !qn.tensor<f32, [N:1]> -> f32
  // CHECK: qn.write %[[V]], %[[S]][%[[T]], %{{.*}}] : f32, memref<64x2xf32, 3>
  qn.write %v, %s[%t, %one] : f32, memref<64x2xf32, 3>
  // CHECK: qn.barrier block
  qn.barrier block
  // CHECK: qn.shuffle butterfly %[[V]], %{{.*}} : f32
  %w = qn.shuffle butterfly %v, %one : f32
  %c = arith.cmpf olt, %v, %w : f32
  // CHECK: qn.ballot
  %m = qn.ballot %c
  // CHECK: qn.vote any
  %any = qn.vote any %c
  // CHECK: qn.atomic addf %[[V]], %{{.*}}[%[[T]]] order relaxed scope device : f32, !qn.tensor<f32, [N:1]> -> f32
  %old = qn.atomic addf %v, %x[%t] order relaxed scope device : f32, !qn.tensor<f32, [N:1]> -> f32
  // CHECK: qn.atomic cas %[[V]] expected %{{.*}} : f32
  %won = qn.atomic cas %v expected %old : f32, %s[%t, %one] checked order acq_rel scope block : f32, memref<64x2xf32, 3> -> f32
  // CHECK: qn.combine block(%[[V]] : f32) init(%{{.*}} : f32) merge {
  %sum = qn.combine block (%v : f32) init (%zero : f32) merge {
  ^bb0(%l: f32, %r: f32):
    %p = arith.addf %l, %r : f32
    qn.yield %p : f32
  }
  // CHECK: qn.combine row(%[[V]] : f32)
  %of = qn.combine row (%v : f32) init (%zero : f32) merge {
  ^bb0(%l: f32, %r: f32):
    %p = arith.addf %l, %r : f32
    qn.yield %p : f32
  }
  // CHECK: qn.prefix warp(%[[V]] : f32) init(%{{.*}} : f32) reverse exclusive merge {
  %scan = qn.prefix warp (%v : f32) init (%zero : f32) reverse exclusive merge {
  ^bb0(%l: f32, %r: f32):
    %p = arith.addf %l, %r : f32
    qn.yield %p : f32
  }
}

// CHECK-LABEL: qn.kernel @tiles
qn.kernel @tiles axes [M, N] (%x: !qn.tensor<f16, [M, N:1]>,
    %y: !qn.tensor<f32, [M, N:1]>) {
  %one = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  qn.launch grid(%one, %one, %one) block(%c32, %one, %one)
  %s = qn.shared : memref<16x32xf16, 3>
  %t = qn.local : memref<8xf32, 5>
  // CHECK: qn.copy %[[S:.*]][%{{.*}}, %{{.*}}], %[[X:.*]][%{{.*}}, %{{.*}}] count 8 async checked : memref<16x32xf16, 3>, !qn.tensor<f16, [M, N:1]>
  qn.copy %s[%one, %one], %x[%one, %one] count 8 async checked : memref<16x32xf16, 3>, !qn.tensor<f16, [M, N:1]>
  // CHECK: qn.commit_copies
  qn.commit_copies
  // CHECK: qn.await_copies 1
  qn.await_copies 1
  // CHECK: qn.load_tile %[[T:.*]], %[[Y:.*]][%{{.*}}, %{{.*}}] rows 16 columns 16 : memref<8xf32, 5>, !qn.tensor<f32, [M, N:1]>
  qn.load_tile %t, %y[%one, %one] rows 16 columns 16 : memref<8xf32, 5>, !qn.tensor<f32, [M, N:1]>
  // CHECK: qn.mma %[[T]], %[[S]][%{{.*}}, %{{.*}}], %[[X]][%{{.*}}, %{{.*}}] rows 16 columns 16 depth 32 : memref<8xf32, 5>, memref<16x32xf16, 3>, !qn.tensor<f16, [M, N:1]>
  qn.mma %t, %s[%one, %one], %x[%one, %one] rows 16 columns 16 depth 32 : memref<8xf32, 5>, memref<16x32xf16, 3>, !qn.tensor<f16, [M, N:1]>
  %f = qn.local : memref<8xf16, 5>
  // CHECK: qn.mma %[[T]], %{{.*}}, %[[X]][%{{.*}}, %{{.*}}] transposed rows 16 columns 16 depth 16 : memref<8xf32, 5>, memref<8xf16, 5>, !qn.tensor<f16, [M, N:1]>
  qn.mma %t, %f, %x[%one, %one] transposed rows 16 columns 16 depth 16 : memref<8xf32, 5>, memref<8xf16, 5>, !qn.tensor<f16, [M, N:1]>
  // CHECK: qn.store_tile %[[T]], %[[Y]][%{{.*}}, %{{.*}}] rows 16 columns 16 : memref<8xf32, 5>, !qn.tensor<f32, [M, N:1]>
  qn.store_tile %t, %y[%one, %one] rows 16 columns 16 : memref<8xf32, 5>, !qn.tensor<f32, [M, N:1]>
}
