// More shared memory than a block has is an error with a code of its own.
// RUN: quern-opt %s --qn-schedule=target=sm_90 --qn-to-loops=target=sm_90 --verify-diagnostics

qn.kernel @arrays axes [N] (%n: i64) {
  %one = arith.constant 1 : i64
  %v = arith.constant 1.0 : f32
  qn.launch grid(%one, %one, %one) block(%one, %one, %one)
  // expected-error @below {{the `shared` arrays of a block take 4194304 bytes, sm_90 has}}
  // expected-note @below {{QN2057}}
  %s = qn.shared : memref<1024x1024xf32, 3>
  qn.write %v, %s[%one, %one] : f32, memref<1024x1024xf32, 3>
}
