// A costly value that a reduction and the store behind it both need waits in the
// row of the output; a cheap one is made again.
// RUN: quern-opt %s --split-input-file --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @costly_task
// The reduction makes the value and writes it.
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.sqrt
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: vector.shuffle
// The last pass reads it back.
// CHECK-NOT: math.sqrt
// CHECK: arith.divf
qn.rowwise @costly axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %a = math.sqrt %v : f32
  %b = math.sqrt %a : f32
  %c = math.sqrt %b : f32
  %d = math.sqrt %c : f32
  %e = math.sqrt %d : f32
  %f = math.sqrt %e : f32
  %g = math.sqrt %f : f32
  %h = math.sqrt %g : f32
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%h : f32) init (%zero : f32) over [C] step {
  ^bb0(%p: f32, %q: f32):
    %n = arith.addf %p, %q : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%p: f32, %q: f32):
    %n = arith.addf %p, %q : f32
    qn.yield %n : f32
  }
  %r = arith.divf %h, %s : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// -----

// CHECK-LABEL: llvm.func @cheap_task
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: llvm.store
// CHECK: scf.yield
qn.rowwise @cheap axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %h = math.sqrt %v : f32
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%h : f32) init (%zero : f32) over [C] step {
  ^bb0(%p: f32, %q: f32):
    %n = arith.addf %p, %q : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%p: f32, %q: f32):
    %n = arith.addf %p, %q : f32
    qn.yield %n : f32
  }
  %r = arith.divf %h, %s : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [R, C:1]>
}
