"""Mutate inputs in place, return views, None, ints, SymInts, aliases: eager's behaviour."""

from __future__ import annotations

import torch


def test_cache_update() -> None:
    def step(cache: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        cache[:, 3:5] = new
        cache.mul_(2)
        return cache[:, :5]

    ours, theirs = torch.ones(2, 8), torch.ones(2, 8)
    new = torch.randn(2, 2)
    result = torch.compile(step, backend="quern")(ours, new)
    expected = step(theirs, new)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(result, expected)
    assert result.untyped_storage().data_ptr() == ours.untyped_storage().data_ptr()


def test_mixed_outputs() -> None:
    def f(x: torch.Tensor) -> tuple[object, ...]:
        return x.t(), None, 7, x, x.shape[0], x + 1

    x = torch.randn(3, 4)
    view, nothing, seven, same, size, fresh = torch.compile(f, backend="quern")(x)
    assert (nothing, seven, size) == (None, 7, 3)
    assert same is x
    assert view.data_ptr() == x.data_ptr()
    assert view.stride() == (1, 4)
    torch.testing.assert_close(fresh, x + 1)


def test_sizes_that_change() -> None:
    def f(x: torch.Tensor) -> tuple[object, ...]:
        return x.shape[0], 2 * x.shape[0] + 1, x, x[1:]

    compiled = torch.compile(f, backend="quern", dynamic=True)
    for rows in (3, 5, 9):
        x = torch.randn(rows, 2)
        size, more, same, view = compiled(x)
        assert (size, more) == (rows, 2 * rows + 1)
        assert same is x
        assert view.data_ptr() == x[1:].data_ptr()


def test_operands_that_overlap() -> None:
    def f(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a.add_(1)
        b.mul_(2)
        return a + b

    ours = torch.randn(6)
    theirs = ours.clone()
    compiled = torch.compile(f, backend="quern")
    torch.testing.assert_close(compiled(ours[:4], ours[2:]), f(theirs[:4], theirs[2:]))
    torch.testing.assert_close(ours, theirs)
