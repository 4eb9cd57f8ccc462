// Threads take turns along an axis; what one has found is merged by all.
// RUN: quern-opt %s --qn-schedule=target=sm_90 --qn-to-loops=target=sm_90 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=gfx942 --qn-to-loops=target=gfx942 | FileCheck %s --check-prefix=AMD

// CHECK: llvm.mlir.global internal @team_state0() {addr_space = 3
// CHECK-LABEL: llvm.func ptx_kernelcc @total_warp
// CHECK-SAME: llvm.byval = !llvm.array<8 x i64>
// CHECK-SAME: passthrough = {{.*}}["nvvm.reqntid", "128"]
// CHECK: %[[THREAD:.*]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"
// Pointers of the packet lead to device memory.
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr<1>
// CHECK: scf.if
// Rows, a grid apart; then the row's elements, a warp's vectors apart.
// CHECK: scf.for unsigned
// CHECK: scf.for unsigned {{.*}} -> (vector<4xf32>
// CHECK: llvm.load {{.*}}alignment = 16
// CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.down.i32"
// CHECK: llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// Only the first thread stores what all of them know.
// CHECK: scf.if
// CHECK: llvm.store
// CHECK-LABEL: llvm.func ptx_kernelcc @total_block
// CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"

// AMD-LABEL: llvm.func amdgpu_kernelcc @total_warp
// AMD-SAME: !llvm.ptr<4> {llvm.align = 8 : i64, llvm.byref = !llvm.array<8 x i64>}
// AMD-SAME: ["amdgpu-flat-work-group-size", "128,128"]
// AMD: llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"
// AMD: llvm.call_intrinsic "llvm.amdgcn.ds.bpermute"
// AMD: llvm.call_intrinsic "llvm.amdgcn.readfirstlane.i32"
// AMD-LABEL: llvm.func amdgpu_kernelcc @total_block
// AMD: llvm.fence syncscope("workgroup") release
// AMD-NEXT: llvm.call_intrinsic "llvm.amdgcn.s.barrier"
// AMD-NEXT: llvm.fence syncscope("workgroup") acquire
qn.rowwise @total axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [R:1]>
}
