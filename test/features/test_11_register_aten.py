"""Add or replace an operator from outside: `quern.register_aten`; the next compile uses it."""

from __future__ import annotations

from support import python

TEXT = """
import torch, quern
x = torch.linspace(-3, 3, 50)
f = lambda x: torch.tanh(x) + torch.special.hermite_polynomial_h(x, 3)
torch.compile(f, backend="quern")(x)
assert quern.counters()["fallbacks"] == {"aten::special_hermite_polynomial_h.n_scalar": 1}
quern.register_aten("aten::tanh", '''
elementwise marked_tanh[T: Float](x: T) -> T:
    return tanh(x) + 100
''')
quern.register_aten("aten::special_hermite_polynomial_h.n_scalar", '''
@aten("special_hermite_polynomial_h.n_scalar")
elementwise my_hermite[T: Float](x: T, n: int) -> T:
    return x * 0
''')
torch._dynamo.reset()
quern.reset_counters()
result = torch.compile(f, backend="quern")(x)
torch.testing.assert_close(result, torch.tanh(x) + 100)
counts = quern.counters()
print(counts["fallbacks"], counts["launches"])
"""


def test_next_compile_uses_it() -> None:
    assert python(TEXT).strip() == "{} 1"


def test_mistakes_are_shown() -> None:
    text = """
import quern
for name, source in [("aten::tanh", "elementwise f(x: Nope) -> f32:\\n    return x\\n"),
                     ("aten::tanh", "fn f(x: f32) -> f32:\\n    return x\\n")]:
    try:
        quern.register_aten(name, source)
    except quern.Error as error:
        print(str(error).replace("\\n", " "))
"""
    first, second = python(text).splitlines()
    assert "tanh.qn:1" in first
    assert "Nope" in first
    assert "needs one declaration that can be called" in second
