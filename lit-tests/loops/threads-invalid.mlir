// What the lowering of threads refuses.
// RUN: quern-opt %s --qn-schedule --qn-to-loops --split-input-file --verify-diagnostics

qn.kernel @part axes [N] (%n: i64) {
  %c64 = arith.constant 64 : i64
  %c9 = arith.constant 9 : i64
  %one = arith.constant 1 : i64
  qn.launch grid(%one, %one, %one) block(%c64, %one, %one)
  %t = qn.thread x
  %c = arith.cmpi slt, %t, %c9 : i64
  // expected-error @below {{threads of a block part before a barrier}}
  // expected-note @below {{QN2054}}
  scf.if %c {
    qn.barrier block
  }
}

