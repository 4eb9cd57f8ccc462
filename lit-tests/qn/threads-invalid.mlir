// What explicit kernels refuse.
// RUN: quern-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{holds one `qn.launch`}}
qn.kernel @launches axes [N] (%x: !qn.tensor<f32, [N:1]>) {
}

// -----

qn.kernel @host axes [N] (%x: !qn.tensor<i64, [N:1]>) {
  %t = qn.thread x
  // expected-error @below {{operand 3 cannot be computed on the host}}
  qn.launch grid(%n, %n, %n) block(%t, %n, %n)
  %n = qn.size N
}

// -----

qn.kernel @axis axes [N] (%n: i64) {
  // expected-error @below {{the kernel has no axis 'M'}}
  %m = qn.size M
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
}

// -----

qn.kernel @space axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{must be a plain array in memory space 3}}
  %s = qn.shared : memref<4xf32, 5>
}

// -----

qn.kernel @own axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{must be a plain array in memory space 5}}
  %s = qn.local : memref<4xf32>
}

// -----

qn.kernel @rank axes [N] (%x: !qn.tensor<f32, [N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{2 indices for 1 axes}}
  %v = qn.read %x[%n, %n] : !qn.tensor<f32, [N:1]> -> f32
}

// -----

qn.kernel @element axes [N] (%x: !qn.tensor<f32, [N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{is no 'i64'}}
  qn.write %n, %x[%n] : i64, !qn.tensor<f32, [N:1]>
}

// -----

qn.kernel @expected axes [N] (%x: !qn.tensor<i64, [N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{`expected` belongs to `cas`}}
  %v = qn.atomic cas %n, %x[%n] order relaxed scope device : i64, !qn.tensor<i64, [N:1]> -> i64
}

// -----

qn.kernel @scope axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{waits for a warp or a block}}
  qn.barrier device
}

// -----

qn.kernel @monoid axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{merge must yield 'i64'}}
  %r = qn.combine block (%n : i64) init (%n : i64) merge {
  ^bb0(%a: i64, %b: i64):
    qn.yield %a, %b : i64, i64
  }
}

// -----

qn.kernel @wide axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{must be 64-bit signless integer}}
  %b = "qn.block"() {dimension = #qn<dimension x>} : () -> i32
}

// -----

qn.kernel @lane axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{must be 64-bit signless integer}}
  %l = "qn.lane"() : () -> i32
}

// -----

qn.kernel @shuffle axes [N] (%n: i64, %f: f32) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{must be 64-bit signless integer}}
  %v = "qn.shuffle"(%n, %f) {kind = #qn<shuffle_kind idx>} : (i64, f32) -> i64
}

// -----

qn.kernel @ballot axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{must be 1-bit signless integer}}
  %v = "qn.ballot"(%n) : (i64) -> i64
}

// -----

qn.kernel @vote axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{must be 1-bit signless integer}}
  %v = "qn.vote"(%n) {kind = #qn<vote_kind any>} : (i64) -> i1
}

// -----

qn.kernel @prefix axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{merge must yield 'i64'}}
  %r = qn.prefix block (%n : i64) init (%n : i64) merge {
  ^bb0(%a: i64, %b: i64):
    qn.yield %a, %b : i64, i64
  }
}
