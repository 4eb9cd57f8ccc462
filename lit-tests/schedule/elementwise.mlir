// An elementwise kernel is one dispatch: tasks take tiles of its axis, lanes run
// along it, and results that exceed the caches go past them.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,V4
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 | FileCheck %s --check-prefixes=CHECK,V3
// What is printed is all that the lowering reads.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | quern-opt --qn-to-loops=target=x86-64-v4 -o %t.text
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | diff - %t.text

// V4: qn.schedule for "x86-64-v4" parts 0 masked_above [[LONG:[0-9]+]] {
// V4-NEXT: qn.inner C lanes 16 copies 4 reduce_copies {{[0-9]+}}
// V3: qn.schedule for "x86-64-v3" parts 0 masked_above [[LONG:[0-9]+]] {
// V3-NEXT: qn.inner C lanes 8 copies 4 reduce_copies {{[0-9]+}}
// CHECK-NEXT: qn.dispatch stores of [0] parallel [C] lane C worth 32768 streams {
// V4-NEXT: qn.loop C tile 4096 lanes 16 copies 4
// V3-NEXT: qn.loop C tile 4096 lanes 8 copies 4
qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>, %a: f32,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %r = arith.mulf %v, %a : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [C:1]>
}
