"""Trust that our kernel ran: a test fails when it silently did not."""

from __future__ import annotations

from support import python

TEXT = """
import torch, quern
{breakage}
compiled = torch.compile(lambda x: torch.tanh(x) + 1, backend="quern")
compiled(torch.randn(5))
counts = quern.counters()
print(counts["launches"], counts["fallbacks"])
"""
# A kernel that does not fit the operator, in the place of the library's.
BREAKAGE = """
try:
    quern.register_aten("aten::tanh", '''
@aten("tanh", nothing_like_it = false)
elementwise never[T: Float](x: T, missing: T) -> T:
    return x
''')
except quern.Error as error:
    assert "QN1415" in str(error)
else:
    raise AssertionError("a row that does not fit was taken")
from quern.torch_backend.state import state
names = state().backend.overloads()
assert "aten::tanh" in names
"""


def test_counters_tell() -> None:
    assert python(TEXT.format(breakage="")).strip() == "1 {}"


def test_registration_that_does_not_fit_leaves_the_library_in_place() -> None:
    assert python(TEXT.format(breakage=BREAKAGE)).strip() == "1 {}"


def test_operator_without_kernel_is_counted() -> None:
    text = TEXT.replace("torch.tanh(x)", "torch.special.hermite_polynomial_h(x, 3)")
    name = "aten::special_hermite_polynomial_h.n_scalar"
    assert python(text.format(breakage="")).strip() == f"1 {{'{name}': 1}}"
