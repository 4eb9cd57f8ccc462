"""What random graphs of small floats (`./dev fuzz small-graphs`) have found."""

from __future__ import annotations

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.int8])
@pytest.mark.parametrize("columns", [1, 4, 40, 300])
def test_indices_of_one_row_of_a_transposed_matrix(dtype: torch.dtype, columns: int) -> None:
    """No stride of the indices is a word of the packet: word 0 was read in its place, which is the
    address of the error record."""
    x = torch.randint(0, 100, (columns, 2)).to(dtype).t()
    i = torch.randint(0, 2, (1, columns))

    def gather(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return torch.gather(x, 0, i)

    torch._dynamo.reset()
    compiled = torch.compile(gather, backend="quern", options={"fallback": "error"})
    assert torch.equal(compiled(x, i), gather(x, i))
