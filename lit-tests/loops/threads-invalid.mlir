// What the lowering of threads refuses.
// RUN: quern-opt %s --qn-to-loops --split-input-file --verify-diagnostics

qn.kernel @part axes [N] (%n: i64) {
  %c64 = arith.constant 64 : i64
  %c9 = arith.constant 9 : i64
  %one = arith.constant 1 : i64
  qn.launch grid(%one, %one, %one) block(%c64, %one, %one)
  %t = qn.thread x
  %c = arith.cmpi slt, %t, %c9 : i64
  // expected-error @below {{threads of a block part before a barrier}}
  scf.if %c {
    qn.barrier block
  }
}

// -----

qn.kernel @many axes [N] (%n: i64) {
  %c64 = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  // expected-error @below {{a block has 4096 threads, at most 1024 are possible}}
  qn.launch grid(%one, %one, %one) block(%c64, %c64, %one)
}

// -----

// expected-error @below {{the arrays of a block take more than 1048576 bytes}}
qn.kernel @arrays axes [N] (%n: i64) {
  %one = arith.constant 1 : i64
  %v = arith.constant 1.0 : f32
  qn.launch grid(%one, %one, %one) block(%one, %one, %one)
  %s = qn.shared : memref<1024x1024xf32, 3>
  qn.write %v, %s[%one, %one] : f32, memref<1024x1024xf32, 3>
}

// -----

qn.kernel @nobody axes [N] (%n: i64) {
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  // expected-error @below {{a block has 0 threads along one dimension, at least 1 is needed}}
  qn.launch grid(%one, %one, %one) block(%none, %one, %one)
}
