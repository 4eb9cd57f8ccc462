// Terminators without a region around them, and axes that no kernel has.
// RUN: quern-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects parent op to be one of 'qn.reduce, qn.scan, qn.scatter, qn.combine, qn.prefix'}}
qn.yield

// -----

qn.rowwise @over axes [C] (%v: f32, %i: i64, %x: !qn.tensor<f32, [C:1]>) {
  // expected-error @below {{the kernel has no axis "K"}}
  qn.scatter %v to %x[%i] over [K] : f32 to !qn.tensor<f32, [C:1]> {
  }
}

// -----

qn.rowwise @reduced axes [C] (%v: f32) {
  // expected-error @below {{the kernel has no axis "K"}}
  %s = qn.reduce (%v : f32) init (%v : f32) over [K] step {
  ^bb0(%a: f32, %b: f32):
    qn.yield %a : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    qn.yield %a : f32
  }
}

// -----

qn.rowwise @scanned axes [C] (%v: f32) {
  // expected-error @below {{the kernel has no axis "K"}}
  %s = qn.scan (%v : f32) init (%v : f32) over K step {
  ^bb0(%a: f32, %b: f32):
    qn.yield %a : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    qn.yield %a : f32
  }
}

// -----

qn.rowwise @compact axes [K, N] (%y: !qn.tensor<f32, [K]>, %x: !qn.tensor<f32, [N]>, %n: i64, %f: i1) {
  %v = qn.load %x : !qn.tensor<f32, [N]>
  // expected-error @below {{counts along its axis}}
  qn.compact %v to %y along N when %f count %n : f32 to !qn.tensor<f32, [K]>
}
