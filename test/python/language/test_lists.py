"""Lists of tensors given to a `rowwise`, against torch."""

import pytest
import quern
import torch

SOURCE = """
rowwise cat[T: Any](xs: list[T[*R, C]]) -> T[*R, C]:
    return concat(xs over C)

rowwise behind[T: Float](xs: list[T[*R, C]], y: T[*R, D]) -> T[*R, E = size(C) + size(D)]:
    return exp(concat[E](xs, y over (C, D)))

rowwise share[T: Float](xs: list[T[*R, C]]) -> T[*R, C]:
    let x = concat(xs over C)
    return x / sum(x over C)

rowwise weighted[T: Number](xs: list[T[R, C]], ys: list[T[R, C]], w: T[C]) -> T[R, C]:
    return concat(xs over C) * w + concat(ys over C)

rowwise channels[T: Number](xs: list[T[N, C, *S]]) -> T[N, C, *S]:
    return concat(xs over C)

rowwise grouped[T: Number](xs: list[T[N, (G C), *S]], G: int) -> T[N, (G C), *S]:
    return concat(xs over C)

rowwise steps[T: Number](xs: list[T[N, C]]) -> T[N, C]:
    let x = concat(xs over C)
    return x.at(C = index(C) + 1, outside = -1) - x

op thrice[T: Any](x: T[N, C], y: T[N, D]) -> T[N, E]:
    return cat([x, y, x])
"""
LENGTHS = (1, 2, 3, 7, 40)


@pytest.fixture(scope="module")
def kernels() -> quern.Module:
    return quern.compile(SOURCE, "lists.qn")


def parts(count: int, rows: int = 5) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(count)
    return [torch.randn(rows, k % 5 * 4 + 1, generator=generator) for k in range(count)]


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.bool, torch.bfloat16])
def test_joins(kernels: quern.Module, count: int, dtype: torch.dtype) -> None:
    xs = [x.to(dtype) for x in parts(count)]
    assert torch.equal(kernels.cat(xs), torch.cat(xs, -1))


@pytest.mark.parametrize("count", LENGTHS)
def test_joined_values_are_computed_with(kernels: quern.Module, count: int) -> None:
    xs, ys = parts(count), [x * 2 for x in parts(count)]
    x = torch.cat(xs, -1)
    y, w = torch.ones(5, 9), torch.arange(float(x.shape[1]))
    torch.testing.assert_close(kernels.behind(xs, y), torch.exp(torch.cat([x, y], -1)))
    torch.testing.assert_close(
        kernels.share([x.abs() for x in xs]), x.abs() / x.abs().sum(-1, keepdim=True)
    )
    torch.testing.assert_close(kernels.weighted(xs, ys, w), x * w + 2 * x)
    moved = torch.cat([x[:, 1:], torch.full((5, 1), -1.0)], -1)
    torch.testing.assert_close(kernels.steps(xs), moved - x)


@pytest.mark.parametrize("count", LENGTHS)
def test_axes_in_the_middle_and_split(kernels: quern.Module, count: int) -> None:
    xs = [torch.randn(3, k % 4, 6, 2).permute(0, 1, 3, 2) for k in range(count)]
    assert torch.equal(kernels.channels(xs), torch.cat(xs, 1))
    xs = [torch.randn(3, 2, k + 1, 5) for k in range(count)]
    wanted = torch.cat(xs, 2).flatten(1, 2)
    assert torch.equal(kernels.grouped([x.flatten(1, 2) for x in xs], 2), wanted)


def test_layouts_and_ops(kernels: quern.Module) -> None:
    x, y = torch.randn(4, 3), torch.randn(4, 6)
    assert torch.equal(kernels.thrice(x, y), torch.cat([x, y, x], -1))
    xs = [x, x[:, :1].expand(4, 5), y[:, ::2], y.T.contiguous().T, y[:, 3:3]]
    assert torch.equal(kernels.cat(xs), torch.cat(xs, -1))


@pytest.mark.parametrize(
    ("xs", "code"),
    [
        ([], "QN2014"),
        ([torch.ones(2, 3), torch.ones(4, 3)], "QN2022"),
        ([torch.ones(2, 3), torch.ones(2, 3, 4)], "QN2020"),
        ([torch.ones(2, 3), torch.ones(2, 3).double()], "QN2011"),
        ([torch.ones(1)] * 5000, "QN2014"),
    ],
)
def test_wrong_lists(kernels: quern.Module, xs: list[torch.Tensor], code: str) -> None:
    with pytest.raises(quern.Error, match=code):
        kernels.cat(xs)


def test_lists_that_do_not_go_together(kernels: quern.Module) -> None:
    x, y = torch.ones(2, 3), torch.ones(2, 4)
    with pytest.raises(quern.Error, match="QN2073"):
        kernels.weighted([x], [x, x], torch.ones(3))
    with pytest.raises(quern.Error, match="QN2022"):
        kernels.weighted([x], [y], torch.ones(3))
    with pytest.raises(quern.Error, match="QN2022"):
        kernels.weighted([x], [x], torch.ones(4))
