"""Steps of random programs that matter to small floats: numbers far outside their range, and sizes
that only a call knows."""

from __future__ import annotations

from random_maker import Maker

#: Beside the ends of f16 and bf16, between two of their numbers, and far away from all.
NUMBERS = [
    "70000", "-1e9", "1e38", "3.4e38", "0.3", "-0.7", "1e-8", "6e-8", "2049", "65504.0", "-65519.0",
    "65520.0", "1e-45", "257", "1 / 3", "float('inf')", "-float('inf')", "2**31", "0.1",
]  # fmt: skip


def numbers(m: Maker) -> None:
    x = m.pick()
    assert x
    shape = m.shape(x)
    y = m.pick(lambda s: s == shape)
    forms = [
        "{x} * {n}", "{x} / {n}", "{x} + {n}", "{n} - {x}", "({x} > 0.2) * {n}", "{x} % {n}",
        "(1.0 - ({x} > 0).to({x}.dtype)) * {n}", "torch.where({x} > 0.5, {x}, {n})",
        "{x}.masked_fill({x} > 0.3, {n})", "torch.clamp({x}, max={n})", "{x}.clamp(min={n})",
        "torch.add({x}, {y}, alpha={n})", "torch.addcmul({x}, {x}, {y}, value={n})",
        "torch.addcdiv({x}, {x}, {y}.abs() + 1, value={n})", "torch.lerp({x}, {y}, {n})",
        "{x} * torch.tensor({n})", "{x} / torch.tensor({n}, dtype=torch.float64)",
        "{x} * {n} / {n}", "({x} * {n}).tanh()", "({x} + {n}) - {n}", "{x}.clone().mul_({n})",
        "({x}.float() * {n}).to({x}.dtype)", "torch.maximum({x} * {n}, {y})", "{x}.pow(2) * {n}",
        "torch.nn.functional.leaky_relu({x}, {n})", "torch.nn.functional.threshold({x}, 0.1, {n})",
        "{x}.sub({y}, alpha={n})", "torch.xlogy({x}.abs(), {n})", "torch.hypot({x}, {x} * {n})",
    ]  # fmt: skip
    m.add(m.rng.choice(forms).format(x=x, y=y, n=m.rng.choice(NUMBERS)), shape)


def extremes(m: Maker) -> None:
    """What looks again, in a backward, for the place of a maximum that was rounded."""
    x = m.pick(bool)
    if not x:
        return
    shape, i = m.shape(x), m.axis(x)
    y = m.pick(lambda s: s == shape)
    rest = (*shape[:i], *shape[i + 1 :])
    forms = [
        "({x} * {y}).amax({i})", "({x} * 1.7).amin({i})", "({x} + {y} * 0.3).max({i})[0]",
        "torch.aminmax({x} * {y}, dim={i}).max", "({x} * {y}).logsumexp({i})",
        "torch.linalg.vector_norm({x} * {y}, float('inf'), {i})", "({x} / 3).median({i})[0]",
        "({x} * {y}).sum({i})", "({x} * {y}).tanh().var({i}, correction=0)",
        "({x} * {y}).mean({i})", "({x} * 0.1).norm(dim={i})", "({x} * {y}).abs().amax({i}).sqrt()",
    ]  # fmt: skip
    m.add(m.rng.choice(forms).format(x=x, y=y, i=i), rest)


def known_late(m: Maker) -> None:
    """Sizes that depend on values."""
    x = m.pick(bool)
    if not x:
        return
    forms = [
        "{x}[{x} > 0.1].sum()",
        "torch.masked_select({x}, {x} < 0.4).float().mean().to({x}.dtype)",
        "({x}[{x} > 0.1] * 2 + 1).sum()",
        "torch.cat([{x}[{x} > 0], {x}.flatten()]).amax()",
        "{x}.flatten()[torch.nonzero({x}.flatten() > 0)[:, 0]].sin().sum()",
        "torch.where({x} > 0.2)[0].sum() * 0.01 + {x}.sum()",
        "torch.unique(({x} > 0).long()).numel() + {x}.mean()",
        "torch.nn.functional.pad({x}[{x} > 0.1], (1, 1)).cumsum(0)[-1]",
    ]
    m.add(m.rng.choice(forms).format(x=x), ())


def casts(m: Maker) -> None:
    x = m.pick()
    assert x
    forms = [
        "{x}.to(torch.bfloat16)", "{x}.to(torch.float16)", "{x}.float()", "{x}.half().float()",
        "{x}.bfloat16() * 3", "{x}.double()", "({x}.half() + {x}.float())", "{x} + {x}.double()",
        "({x}.bfloat16() * {x}.half())", "({x} * 3).to(torch.int32).to({x}.dtype)",
    ]  # fmt: skip
    m.add(m.rng.choice(forms).format(x=x), m.shape(x))


SMALL_STEPS = [(numbers, 9), (extremes, 3), (known_late, 2), (casts, 2)]
