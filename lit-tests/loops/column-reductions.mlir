// A reduction over rows runs in lanes along the columns: many rows are added
// to rows of states in the workspace, few to accumulators in registers.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// Where rows follow each other in memory, as many are taken as one as make 512
// elements, and leave 64 such rows.
// CHECK-LABEL: llvm.func @column_plan
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 512 : i64
// CHECK: %[[FIT:.*]] = arith.divui %[[WIDTH]], {{.*}}
// CHECK: math.ctlz
// CHECK: %[[FOLLOW:.*]] = arith.cmpi eq
// CHECK: %[[LOG:.*]] = arith.select %[[FOLLOW]]
// CHECK: arith.shrui {{.*}}, %[[LOG]]

// Eight rows are added to what is loaded once; what belongs to one column is
// merged in halves.
// CHECK-LABEL: llvm.func @column_task
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK-COUNT-8: arith.addf {{.*}} : vector<8xf32>
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK: scf.for {{.*}} = %c0_i64 to {{.*}} step %c1_i64
// CHECK-NEXT: %[[STEP:.*]] = arith.addi
// CHECK: %[[HALF:.*]] = arith.shrui {{.*}}, %[[STEP]]
// CHECK: arith.addi {{.*}}, %[[HALF]]
// CHECK-LABEL: llvm.func @column_1_task
// CHECK: scf.for {{.*}} iter_args
// CHECK-LABEL: llvm.func @column_2_task
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-NOT: vector.shuffle
// CHECK: llvm.store {{.*}} : vector<8xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32)
qn.rowwise @column axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [R] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [C:1]>
}
