// Divisions of small numbers are narrow ones; extents of a wide kernel are none.
// RUN: quern-opt %s --qn-narrow-divisions | FileCheck %s

// What makes a remainder floor goes, and what keeps a quotient from overflowing.
// CHECK-LABEL: @turned
// CHECK: scf.if
// CHECK-NOT: arith.divsi
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: %[[AT:.*]] = arith.extui %[[REST]] : i32 to i64
// CHECK-NEXT: qn.read %{{.*}}[%[[AT]]]
qn.kernel @turned axes [N] (%x: !qn.tensor<f32, [N:1]>, %y: !qn.tensor<f32, [N:1]>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %least = arith.constant -9223372036854775808 : i64
  %minus = arith.constant -1 : i64
  %n = qn.size N
  qn.launch grid(%n, %one, %one) block(%c64, %one, %one)
  %b = qn.block x
  %t = qn.thread x
  %first = arith.muli %b, %c64 : i64
  %i = arith.addi %first, %t : i64
  %inside = arith.cmpi slt, %i, %n : i64
  scf.if %inside {
    %next = arith.addi %i, %one : i64
    %none = arith.cmpi eq, %n, %zero : i64
    %is_least = arith.cmpi eq, %next, %least : i64
    %is_minus = arith.cmpi eq, %n, %minus : i64
    %wraps = arith.andi %is_least, %is_minus : i1
    %unsafe = arith.ori %none, %wraps : i1
    %d = arith.select %unsafe, %one, %n : i64
    %q = arith.divsi %next, %d : i64
    %p = arith.muli %q, %d : i64
    %r = arith.subi %next, %p : i64
    %signs = arith.xori %r, %d : i64
    %differ = arith.cmpi slt, %signs, %zero : i64
    %some = arith.cmpi ne, %r, %zero : i64
    %adjust = arith.andi %differ, %some : i1
    %up = arith.addi %r, %d : i64
    %rest = arith.select %adjust, %up, %r : i64
    %v = qn.read %x[%rest] checked : !qn.tensor<f32, [N:1]> -> f32
    qn.write %v, %y[%i] : f32, !qn.tensor<f32, [N:1]>
  }
}

// Extents that an operand has side by side multiply to its elements at most.
// CHECK-LABEL: @planes
// CHECK: arith.divui %{{.*}}, %{{.*}} : i32
qn.kernel @planes axes [B, H, W] (%x: !qn.tensor<f32, [B, H, W:1]>) {
  %one = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant 0.0 : f32
  %h = qn.size H
  %w = qn.size W
  %n = arith.muli %h, %w : i64
  qn.launch grid(%n, %one, %one) block(%c64, %one, %one)
  %i = qn.block x
  %inside = arith.cmpi slt, %i, %n : i64
  scf.if %inside {
    %q = arith.divsi %i, %w : i64
    %r = arith.remsi %i, %w : i64
    qn.write %zero, %x[%one, %q, %r] : f32, !qn.tensor<f32, [B, H, W:1]>
  }
}

// Nothing says how large the number is, or a grid of so many blocks.
// CHECK-LABEL: @unknown
// CHECK: arith.divsi %{{.*}} : i64
// CHECK: arith.divsi %{{.*}} : i64
qn.kernel @unknown axes [N] (%x: !qn.tensor<i64, [N:1]>, %k: i64) {
  %one = arith.constant 1 : i64
  %n = qn.size N
  qn.launch grid(%k, %one, %one) block(%one, %one, %one)
  %b = qn.block x
  %inside = arith.cmpi slt, %b, %n : i64
  scf.if %inside {
    %q = arith.divsi %b, %k : i64
    qn.write %q, %x[%b] : i64, !qn.tensor<i64, [N:1]>
  }
  %p = arith.divsi %b, %n : i64
  qn.write %p, %x[%one] : i64, !qn.tensor<i64, [N:1]>
}

// CHECK-LABEL: @large
// CHECK: arith.divsi %{{.*}} : i64
qn.kernel @large axes [N] wide (%x: !qn.tensor<i64, [N:1]>) {
  %one = arith.constant 1 : i64
  %n = qn.size N
  qn.launch grid(%n, %one, %one) block(%one, %one, %one)
  %b = qn.block x
  %inside = arith.cmpi slt, %b, %n : i64
  scf.if %inside {
    %q = arith.divsi %b, %n : i64
    qn.write %q, %x[%b] : i64, !qn.tensor<i64, [N:1]>
  }
}

// Around a barrier one thread decides for all: nothing follows for the others.
// CHECK-LABEL: @waiting
// CHECK: arith.divsi %{{.*}} : i64
qn.kernel @waiting axes [N] (%x: !qn.tensor<i64, [N:1]>, %k: i64) {
  %one = arith.constant 1 : i64
  %n = qn.size N
  qn.launch grid(%k, %one, %one) block(%one, %one, %one)
  %b = qn.block x
  %inside = arith.cmpi slt, %b, %n : i64
  scf.if %inside {
    qn.barrier block
    %q = arith.divsi %b, %n : i64
    qn.write %q, %x[%b] checked : i64, !qn.tensor<i64, [N:1]>
  }
}

// A block's number is below its grid's extent.
// CHECK-LABEL: @counted
// CHECK: arith.divui %{{.*}} : i32
qn.kernel @counted axes [N] (%x: !qn.tensor<i64, [N:1]>) {
  %one = arith.constant 1 : i64
  %n = qn.size N
  qn.launch grid(%n, %one, %one) block(%one, %one, %one)
  %b = qn.block x
  %q = arith.divsi %b, %n : i64
  qn.write %q, %x[%b] checked : i64, !qn.tensor<i64, [N:1]>
}

// The sum of two numbers of 8 bits wraps at 8 bits: no small one of 64.
// CHECK-LABEL: @wraps
// CHECK: arith.divsi %{{.*}} : i64
qn.kernel @wraps axes [N] (%x: !qn.tensor<i64, [N:1]>, %k: i8) {
  %one = arith.constant 1 : i64
  %mask = arith.constant 127 : i8
  %n = qn.size N
  qn.launch grid(%n, %one, %one) block(%one, %one, %one)
  %low = arith.andi %k, %mask : i8
  %sum = arith.addi %low, %low : i8
  %wide = arith.extsi %sum : i8 to i64
  %q = arith.divsi %wide, %n : i64
  qn.write %q, %x[%one] checked : i64, !qn.tensor<i64, [N:1]>
}
