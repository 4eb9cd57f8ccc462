// Of a read whose places come from memory few lanes may have an element. Those
// few are read one after the other, and none where none has; a gather would take
// as long as for all.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @picked_task
// CHECK: %[[BITS:.*]] = llvm.bitcast %{{.*}} : vector<16xi1> to i16
// CHECK: %[[COUNT:.*]] = llvm.intr.ctpop(%[[BITS]])
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %[[COUNT]], %c4_i16
// CHECK: scf.if %[[FEW]] -> (vector<16xf32>) {
// CHECK: scf.while
// CHECK: llvm.intr.cttz
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: llvm.insertelement
// CHECK: } else {
// CHECK-NOT: arith.muli
// CHECK: llvm.extractelement
qn.rowwise @picked axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W]>, %i: !qn.tensor<i64, [Q:1]>,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %zero = arith.constant 0.0 : f32
  %r = qn.index R
  %place = qn.load %i : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%r, %place] outside %zero : f32 : !qn.tensor<f32, [R, W]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}

// Where positions say which lanes are inside, those are all but at edges.
// CHECK-LABEL: llvm.func @moved_task
// CHECK-NOT: llvm.intr.ctpop
// CHECK-NOT: llvm.intr.cttz
qn.rowwise @moved axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W]>, %by: i64,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %zero = arith.constant 0.0 : f32
  %r = qn.index R
  %q = qn.index Q
  %square = arith.muli %q, %q : i64
  %place = arith.subi %square, %by : i64
  %a = qn.load %x[%r, %place] outside %zero : f32 : !qn.tensor<f32, [R, W]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}

// What is checked is an error, and read wherever it is.
// CHECK-LABEL: llvm.func @checked_task
// CHECK-NOT: llvm.intr.ctpop
qn.rowwise @checked axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W:1]>, %i: !qn.tensor<i64, [Q:1]>,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %r = qn.index R
  %place = qn.load %i : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%r, %place] checked : !qn.tensor<f32, [R, W:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}

// Elements of 8 bits that are floats are moved as integers.
// CHECK-LABEL: llvm.func @small_task
// CHECK: scf.if {{.*}} -> (vector<64xi8>) {
// CHECK: llvm.insertelement {{.*}} : vector<64xi8>
qn.rowwise @small axes [R, W, Q]
    (%x: !qn.tensor<f8E4M3FN, [R, W]>, %i: !qn.tensor<i64, [Q:1]>,
    %out: !qn.tensor<f8E4M3FN, [R, Q:1]>) {
  %zero = arith.constant 0.0 : f8E4M3FN
  %r = qn.index R
  %place = qn.load %i : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%r, %place] outside %zero : f8E4M3FN : !qn.tensor<f8E4M3FN, [R, W]>
  qn.store %a, %out : f8E4M3FN, !qn.tensor<f8E4M3FN, [R, Q:1]>
}

// One element for all places is read by all lanes together.
// CHECK-LABEL: llvm.func @repeated_task
// CHECK-NOT: llvm.intr.ctpop
// CHECK: llvm.return
qn.rowwise @repeated axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W:0]>, %i: !qn.tensor<i64, [Q:1]>,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %zero = arith.constant 0.0 : f32
  %r = qn.index R
  %place = qn.load %i : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%r, %place] outside %zero : f32 : !qn.tensor<f32, [R, W:0]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}
