"""Find the backend by name, nothing imported."""

from __future__ import annotations

from support import python


def test_backend_is_listed() -> None:
    assert "quern" in python("import torch._dynamo as d; print(d.list_backends())")


def test_backend_is_found() -> None:
    text = "import torch; print(torch.compile(lambda x: x + 1, backend='quern')(torch.ones(2)))"
    assert "tensor([2., 2.])" in python(text)


def test_import_of_quern_alone_does_not_import_torch() -> None:
    assert python("import quern, sys; print('torch' in sys.modules)").strip() == "False"
