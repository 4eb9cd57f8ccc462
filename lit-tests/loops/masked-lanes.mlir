// Processors foresee what whole vectors read and write next, but not from
// masked ones: these ask for what lies some lines behind. What all rows share is
// near.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=sm_90 --qn-to-loops=target=sm_90 | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: llvm.func @scaled_task
// CHECK: llvm.load {{.*}}vector<16xf32>
// CHECK-NOT: [4096]
// CHECK: %[[BEHIND:.*]] = llvm.getelementptr %[[X:.*]][4096] {{.*}}i8
// CHECK-NEXT: "llvm.intr.prefetch"(%[[BEHIND]]) {{.*}}hint = 3
// CHECK: llvm.intr.masked.load %[[X]],
// CHECK-NOT: [4096]
// CHECK: llvm.intr.masked.load
// CHECK: %[[LATER:.*]] = llvm.getelementptr %[[OUT:.*]][4096] {{.*}}i8
// CHECK-NEXT: "llvm.intr.prefetch"(%[[LATER]])
// CHECK-NEXT: llvm.intr.masked.store %{{.*}}, %[[OUT]],
// GPU-NOT: [4096]
qn.rowwise @scaled axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %w: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %s = qn.load %w : !qn.tensor<f32, [C:1]>
  %p = arith.mulf %v, %s : f32
  qn.store %p, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// So do places that move as the lanes do, where a line is read once, and not
// where windows read it several times.
// CHECK-LABEL: llvm.func @bordered_task
// CHECK: scf.if {{.*}} -> (vector<16xf32>)
// CHECK-NEXT: llvm.load
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK: llvm.intr.masked.load
// CHECK: %[[MORE:.*]] = llvm.getelementptr %[[AT:.*]][4096]
// CHECK-NEXT: "llvm.intr.prefetch"(%[[MORE]])
// CHECK: llvm.intr.masked.load %[[AT]],
// CHECK-LABEL: llvm.func @windows_task
// CHECK: llvm.intr.masked.load
// CHECK: %[[MORE:.*]] = llvm.getelementptr %[[OUT:.*]][4096]
// CHECK-NEXT: "llvm.intr.prefetch"(%[[MORE]])
// CHECK-NEXT: llvm.intr.masked.store %{{.*}}, %[[OUT]],
qn.rowwise @bordered axes [R, N, C] (%x: !qn.tensor<f32, [R, N:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i64
  %r = qn.index R
  %c = qn.index C
  %at = arith.subi %c, %one : i64
  %v = qn.load %x[%r, %at] outside %zero : f32 : !qn.tensor<f32, [R, N:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
}

qn.rowwise @windows axes [R, N, I, C] (%x: !qn.tensor<f32, [R, N:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %r = qn.index R
  %c = qn.index C
  %i = qn.index I
  %at = arith.addi %c, %i : i64
  %v = qn.load %x[%r, %at] outside %zero : f32 : !qn.tensor<f32, [R, N:1]>
  %s = qn.reduce (%v : f32) init (%zero : f32) over [I] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// Places apart are asked for behind the first lane's and the last lane's, where
// they are gathered; not those that an operand names for each row.
// CHECK-LABEL: llvm.func @every_task
// CHECK-NOT: vector.extract {{.*}} !llvm.ptr
// CHECK: llvm.extractelement
// CHECK: %[[FIRST:.*]] = vector.extract %[[ALL:.*]][0] : !llvm.ptr
// CHECK-NEXT: %[[BEHIND:.*]] = llvm.getelementptr %[[FIRST]][4096]
// CHECK-NEXT: "llvm.intr.prefetch"(%[[BEHIND]])
// CHECK-NEXT: %[[LAST:.*]] = vector.extract %[[ALL]][15]
// CHECK-NEXT: %[[BEHIND:.*]] = llvm.getelementptr %[[LAST]][4096]
// CHECK-NEXT: "llvm.intr.prefetch"(%[[BEHIND]])
// CHECK: llvm.intr.masked.gather %[[ALL]]
// CHECK-LABEL: llvm.func @named_task
// CHECK-NOT: vector.extract {{.*}} !llvm.ptr
qn.rowwise @every axes [R, N, C] (%x: !qn.tensor<f32, [R, N:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %r = qn.index R
  %c = qn.index C
  %at = arith.muli %c, %c : i64
  %v = qn.load %x[%r, %at] : !qn.tensor<f32, [R, N:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
}

qn.rowwise @named axes [R, N, C] (%x: !qn.tensor<f32, [R, N:1]>,
    %p: !qn.tensor<i64, [R, C:1]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %r = qn.index R
  %at = qn.load %p : !qn.tensor<i64, [R, C:1]>
  %v = qn.load %x[%r, %at] : !qn.tensor<f32, [R, N:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
}
