"""Long lists in kernels of every kind: copies, reductions, scans, products; against torch."""

import _quern
import pytest
import torch

SOURCE = """
rowwise first[T: Any](xs: list[T[C, *R]]) -> T[C, *R]:
    return concat(xs over C)

rowwise middle[T: Any](xs: list[T[C, *R]], w: T[*R]) -> T[C, *R]:
    return concat(xs over C) if bool(w) else 0

rowwise both(xs: list[f32[*R, C]], ys: list[f32[D, *S]]) -> (f32[*R, C], f32[D, *S]):
    return concat(xs over C), concat(ys over D)

@portable
rowwise fixed(xs: list[f32[*R, C]]) -> f32[*R]:
    return sum(concat(xs over C) over C)

rowwise total(xs: list[f32[*R, C]]) -> f32[*R]:
    return sum(concat(xs over C) over C)

rowwise downwards(xs: list[f32[C, R]]) -> f32[R]:
    return max(concat(xs over C) over C)

rowwise running(xs: list[f32[*R, C]]) -> f32[*R, C]:
    return scan(sum, concat(xs over C) over C)

rowwise backwards(xs: list[f32[*R, C]]) -> f32[*R, C]:
    return scan(sum, concat(xs over C) over C, reverse = true)

rowwise product(xs: list[f32[M, K]], y: f32[K, N]) -> f32[M, N]:
    return sum(concat(xs over K) * y over K)

rowwise rows(xs: list[f32[M, K]], y: f32[K, N]) -> f32[M, N]:
    return sum(concat(xs over M) * y over K)

rowwise turned[T: Any](xs: list[T[C, R]]) -> T[R, C]:
    return concat(xs over C)

rowwise numbered(xs: list[f32[*R, C]]) -> f32[*R, C]:
    return concat(xs over C) + f32(index(C))
"""


@pytest.fixture(scope="module", params=["", "x86-64-v2", "x86-64-v3"])
def lists(request: pytest.FixtureRequest) -> _quern.Module:
    return _quern.Session(threads=2, cache="-", target=request.param).compile(SOURCE, "lists.qn")


@pytest.mark.parametrize("dtype", [torch.float64, torch.uint8, torch.float16, torch.complex128])
@pytest.mark.parametrize("count", [2, 9, 200])
def test_pieces_of_any_type_are_as_long_as_can_be(
    lists: _quern.Module, count: int, dtype: torch.dtype
) -> None:
    xs = [(torch.randn(k % 4, 3, 5) * 9).abs().to(dtype) for k in range(count)]
    w = torch.tensor([0, 1, 1, 0, 1]).expand(3, 5).to(dtype)
    x = torch.cat(xs)
    assert torch.equal(lists.first(xs), x)
    assert torch.equal(lists.middle(xs, w), x * w)
    spread = [torch.randn(k % 4, 5, 6)[:, :, ::2].to(dtype).transpose(1, 2) for k in range(count)]
    assert torch.equal(lists.first(spread), torch.cat(spread))
    thin = [x[:, :, 0] for x in xs]
    assert torch.equal(lists.turned(thin), torch.cat(thin).T)
    right = [torch.randn(k % 4, 5) for k in range(count)]
    left = [torch.randn(3, 2)[:, :1] if k % 2 else torch.randn(3, 1) for k in range(count)]
    got = lists.both(left, right)
    assert torch.equal(got[0], torch.cat(left, 1))
    assert torch.equal(got[1], torch.cat(right))


@pytest.mark.parametrize("count", [2, 9, 200])
def test_reductions_scans_and_products_of_lists(lists: _quern.Module, count: int) -> None:
    xs = [torch.randn(4, k % 7 + 1) for k in range(count)]
    x = torch.cat(xs, 1)
    close = torch.testing.assert_close
    close(lists.total(xs), x.sum(1), rtol=1e-4, atol=1e-4)
    close(lists.running(xs), x.cumsum(1), rtol=1e-4, atol=1e-4)
    close(lists.backwards(xs), x.flip(1).cumsum(1).flip(1), rtol=1e-4, atol=1e-4)
    close(lists.numbered(xs), x + torch.arange(float(x.shape[1])))
    close(lists.downwards([x.T.contiguous() for x in xs]), x.amax(1))
    assert torch.equal(lists.fixed(xs), lists.fixed([x]))
    close(lists.fixed(xs), x.sum(1), rtol=1e-4, atol=1e-4)
    y = torch.randn(x.shape[1], 33)
    close(lists.product(xs, y), x @ y, rtol=1e-4, atol=1e-3)
    heights = [torch.randn(k % 3 + 1, 40) for k in range(count)]
    y = torch.randn(40, 33)
    close(lists.rows(heights, y), torch.cat(heights) @ y, rtol=1e-4, atol=1e-4)


def test_results_past_the_caches_begin_anywhere(lists: _quern.Module) -> None:
    xs = [torch.randn(2, 77_777 + k) for k in range(9)]
    flat = [x.flatten() for x in xs]
    assert torch.equal(lists.first([x[:, None] for x in flat]).flatten(), torch.cat(flat))
    assert torch.equal(lists.numbered([x[:, :1000] for x in xs])[:, 0], torch.cat(xs, 1)[:, 0])
    total = torch.cat(xs, 1).shape[1] // 16 * 16
    xs[-1] = xs[-1][:, : xs[-1].shape[1] - (torch.cat(xs, 1).shape[1] - total)]
    wanted = torch.cat(xs, 1) + torch.arange(float(total))
    assert torch.equal(lists.numbered(xs), wanted)
