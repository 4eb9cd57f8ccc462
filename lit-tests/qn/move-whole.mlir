// Complex elements that are only moved are words; where one is computed with, all stay.
// RUN: quern-opt %s --qn-move-whole --split-input-file | FileCheck %s

// CHECK-LABEL: qn.rowwise @turned
// CHECK-SAME: %[[X:[a-z0-9]+]]: !qn.tensor<i64, [C, R:1]>, %[[OUT:[a-z0-9]+]]: !qn.tensor<i64, [R, C:1]>
// CHECK-NEXT: %[[V:.*]] = qn.load %[[X]]
// CHECK-NEXT: qn.store %[[V]], %[[OUT]] : i64
// CHECK-NEXT: }
qn.rowwise @turned axes [R, C] (%x: !qn.tensor<complex<f32>, [C, R:1]>,
    %out: !qn.tensor<complex<f32>, [R, C:1]>) {
  %re = qn.load %x part 0 : !qn.tensor<complex<f32>, [C, R:1]>
  %im = qn.load %x part 1 : !qn.tensor<complex<f32>, [C, R:1]>
  qn.store %re, %out part 0 : f32, !qn.tensor<complex<f32>, [R, C:1]>
  qn.store %im, %out part 1 : f32, !qn.tensor<complex<f32>, [R, C:1]>
}

// -----

// What a choice gives, and what stands outside, is whole too: 2 - 1i here.
// CHECK-LABEL: qn.rowwise @chosen
// CHECK: %[[OUTSIDE:.*]] = arith.constant -4647714814372610048 : i64
// CHECK: %[[A:.*]] = qn.load %{{.*}}[%{{.*}}] outside %[[OUTSIDE]]
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %[[A]], %{{.*}} : i64
// CHECK: qn.store %[[B]]
qn.rowwise @chosen axes [N] (%x: !qn.tensor<complex<f32>, [N:1]>, %y: !qn.tensor<complex<f32>, [N:1]>,
    %c: !qn.tensor<i1, [N:1]>, %i: i64, %out: !qn.tensor<complex<f32>, [N:1]>) {
  %two = arith.constant 2.0 : f32
  %minus = arith.constant -1.0 : f32
  %w = qn.load %c : !qn.tensor<i1, [N:1]>
  %re = qn.load %x[%i] outside %two : f32 part 0 : !qn.tensor<complex<f32>, [N:1]>
  %im = qn.load %x[%i] outside %minus : f32 part 1 : !qn.tensor<complex<f32>, [N:1]>
  %re2 = qn.load %y part 0 : !qn.tensor<complex<f32>, [N:1]>
  %im2 = qn.load %y part 1 : !qn.tensor<complex<f32>, [N:1]>
  %a = arith.select %w, %re, %re2 : f32
  %b = arith.select %w, %im, %im2 : f32
  qn.store %a, %out part 0 : f32, !qn.tensor<complex<f32>, [N:1]>
  qn.store %b, %out part 1 : f32, !qn.tensor<complex<f32>, [N:1]>
}

// -----

// Halves in the other order, one that is stored elsewhere, and sums.
// CHECK-LABEL: qn.rowwise @swapped
// CHECK-NOT: i64
qn.rowwise @swapped axes [N] (%x: !qn.tensor<complex<f32>, [N:1]>, %out: !qn.tensor<complex<f32>, [N:1]>) {
  %re = qn.load %x part 0 : !qn.tensor<complex<f32>, [N:1]>
  %im = qn.load %x part 1 : !qn.tensor<complex<f32>, [N:1]>
  qn.store %im, %out part 0 : f32, !qn.tensor<complex<f32>, [N:1]>
  qn.store %re, %out part 1 : f32, !qn.tensor<complex<f32>, [N:1]>
}

// -----

// CHECK-LABEL: qn.rowwise @real
// CHECK-NOT: i64
qn.rowwise @real axes [N] (%x: !qn.tensor<complex<f32>, [N:1]>, %out: !qn.tensor<complex<f32>, [N:1]>,
    %r: !qn.tensor<f32, [N:1]>) {
  %re = qn.load %x part 0 : !qn.tensor<complex<f32>, [N:1]>
  %im = qn.load %x part 1 : !qn.tensor<complex<f32>, [N:1]>
  qn.store %re, %out part 0 : f32, !qn.tensor<complex<f32>, [N:1]>
  qn.store %im, %out part 1 : f32, !qn.tensor<complex<f32>, [N:1]>
  qn.store %re, %r : f32, !qn.tensor<f32, [N:1]>
}
