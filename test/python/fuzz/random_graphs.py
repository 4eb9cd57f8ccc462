"""Random PyTorch programs: steps that read, reshape, reduce and write values."""

from __future__ import annotations

import random
from collections.abc import Callable

from random_inputs import NAMES, Shape
from random_maker import Maker, Program, factors_of, literal, product
from random_network_steps import NETWORK_STEPS, TYPE_STEPS


def _some(shape: Shape) -> bool:
    return bool(shape)


def unary(m: Maker) -> None:
    x = m.pick()
    assert x
    shape = m.shape(x)
    forms = [
        "torch.sin({x})", "torch.tanh({x})", "{x} * 0.5", "1.0 - {x}", "{x}.abs()", "-{x}",
        "torch.sigmoid({x})", "torch.nn.functional.gelu({x})", "({x} * {x} + 1.0).sqrt()",
        "{x}.exp().clamp(max=3.0)", "torch.nn.functional.silu({x})", "{x}.relu()",
        "{x}.clone()", "{x}.contiguous()", "{x}.double().float()", "{x}.detach()",
        "torch.zeros_like({x})", "torch.full_like({x}, 0.25)", "{x} * 3 // 1.0 * 0",
    ]  # fmt: skip
    m.add(m.rng.choice(forms).format(x=x), shape)


def _broadcast(a: Shape, b: Shape) -> Shape | None:
    """The shape of a sum, if it has one."""
    rank = max(len(a), len(b))
    result = []
    for x, y in zip(("1",) * (rank - len(a)) + a, ("1",) * (rank - len(b)) + b, strict=True):
        if x != y and "1" not in (x, y):
            return None
        result.append(y if x == "1" else x)
    return tuple(result)


def binary(m: Maker) -> None:
    x = m.pick()
    assert x
    own = m.shape(x)
    y = m.pick(lambda shape: _broadcast(own, shape) is not None)
    if m.rng.random() < 0.3:
        y = m.input(tuple(e if m.rng.random() < 0.7 else "1" for e in own[m.rng.randrange(3) :]))
    assert y
    if m.rng.random() < 0.2:
        x, y = y, x
    shape = _broadcast(m.shape(x), m.shape(y))
    assert shape is not None
    forms = [
        "{x} + {y}", "{x} - {y}", "{x} * {y}.tanh()", "torch.maximum({x}, {y})",
        "{x} / ({y}.abs() + 1.0)", "torch.where({x} > 0, {x}, {y})", "torch.add({x}, {y}, alpha=2)",
        "torch.atan2({x}, {y}.abs() + 1.0)", "torch.lerp({x}, {y}, 0.3)",
    ]  # fmt: skip
    m.add(m.rng.choice(forms).format(x=x, y=y), shape)


def reduction(m: Maker) -> None:
    x = m.pick(_some)
    if not x:
        return
    shape = m.shape(x)
    axes = sorted(m.rng.sample(range(len(shape)), m.rng.randint(1, len(shape))))
    if m.rng.random() < 0.7:
        axes = axes[:1]
    keep = m.rng.random() < 0.5
    form = m.rng.choice(["sum", "mean", "amax", "amin", "logsumexp", "std", "norm", "prod", "var"])
    if form in ("std", "norm", "var", "prod"):
        x = f"({x}.tanh() + 2.0)" if form in ("norm", "prod") else f"({x}.tanh())"
    result = tuple("1" if i in axes else e for i, e in enumerate(shape) if keep or i not in axes)
    dims = f"{tuple(axes)}" if len(axes) > 1 or m.rng.random() < 0.5 else f"{axes[0] - len(shape)}"
    if form == "prod":
        axis = axes[0]
        result = tuple("1" if i == axis else e for i, e in enumerate(shape) if keep or i != axis)
        m.add(f"({x} * 0.5).prod({axis}, keepdim={keep})", result)
    elif form in ("std", "var"):
        m.add(f"({x}.{form}({dims}, correction=0, keepdim={keep}) + 0.5)", result)
    elif form in ("amax", "amin", "logsumexp", "norm"):
        word = "dim=" if form == "norm" else ""
        m.add(f"{x}.{form}({word}{dims}, keepdim={keep})", result)
    else:
        m.add(f"{x}.{form}({dims}, keepdim={keep})", result)


def rowwise(m: Maker) -> None:
    x = m.pick(_some)
    if not x:
        return
    shape, axis = m.shape(x), m.axis(x)
    forms = [
        f"{x}.softmax({axis})", f"{x}.log_softmax({axis})", f"{x}.cumsum({axis}) * 0.1",
        f"torch.nn.functional.layer_norm({x}, ({shape[-1]},))", f"{x}.flip({axis})",
        f"{x}.roll(1, {axis})", f"torch.nn.functional.normalize({x} + 0.1, dim={axis}, eps=0.1)",
        f"({x} - {x}.mean({axis}, keepdim=True))", f"torch.nn.functional.pad({x}, (0, 0))",
        f"({x}.tanh()).cumprod({axis})", f"{x}.cummax({axis})[0]", f"{x}.sort({axis})[0]",
    ]  # fmt: skip
    m.add(m.rng.choice(forms), shape)


def view(m: Maker) -> None:
    x = m.pick()
    assert x
    shape = m.shape(x)
    rank = len(shape)
    kind = m.rng.choice(
        ["permute", "merge", "split", "unsqueeze", "expand", "squeeze", "t", "flat"]
    )
    if kind == "permute" and rank > 1:
        order = m.rng.sample(range(rank), rank)
        m.add(f"{x}.permute({order})", tuple(shape[i] for i in order))
    elif kind == "t" and rank > 1:
        i, j = m.rng.sample(range(rank), 2)
        new = list(shape)
        new[i], new[j] = new[j], new[i]
        m.add(f"{x}.transpose({i}, {j})", tuple(new))
    elif kind == "merge" and rank > 1:
        i = m.rng.randrange(rank - 1)
        new = [*shape[:i], product(shape[i], shape[i + 1]), *shape[i + 2 :]]
        m.add(f"{x}.reshape({literal(tuple(new))})", tuple(new))
    elif kind == "flat" and rank:
        m.add(f"{x}.reshape(-1)", (product(*shape),))
    elif kind == "split":
        splits = [i for i, e in enumerate(shape) if len(factors_of(e)) > 1]
        if splits:
            i = m.rng.choice(splits)
            factors = factors_of(shape[i])
            m.rng.shuffle(factors)
            new = [*shape[:i], factors[0], product(*factors[1:]), *shape[i + 1 :]]
            m.add(f"{x}.reshape({literal(tuple(new))})", tuple(new))
    elif kind == "unsqueeze" and rank < 4:
        i = m.rng.randrange(rank + 1)
        m.add(f"{x}.unsqueeze({i})", (*shape[:i], "1", *shape[i:]))
    elif kind == "squeeze" and "1" in shape:
        i = shape.index("1")
        m.add(f"{x}.squeeze({i})", (*shape[:i], *shape[i + 1 :]))
    elif kind == "expand" and "1" in shape:
        i = shape.index("1")
        known = sorted({e for g in m.inputs for e in g.shape if e in NAMES})
        if known:
            new = [*shape[:i], m.rng.choice(known), *shape[i + 1 :]]
            m.add(f"{x}.expand({literal(tuple(new))})", tuple(new))


def part(m: Maker) -> None:
    x = m.pick(_some)
    if not x:
        return
    shape, i = m.shape(x), m.axis(x)
    before, after = shape[:i], shape[i + 1 :]
    colons = ":, " * i
    form = m.rng.choice(["tail", "head", "step", "select", "last", "diagonal", "chunk", "narrow"])
    extent = shape[i]
    if form == "tail" and extent != "1":
        m.add(f"{x}[{colons}1:]", (*before, f"({extent}-1)", *after))
    elif form == "head" and extent != "1":
        m.add(f"{x}[{colons}:-1]", (*before, f"({extent}-1)", *after))
    elif form == "step":
        m.add(f"{x}[{colons}::2]", (*before, f"(({extent}+1)//2)", *after))
    elif form == "select":
        m.add(f"{x}[{colons}0]", (*before, *after))
    elif form == "last":
        m.add(f"{x}.select({i}, -1)", (*before, *after))
    elif form == "diagonal" and len(set(shape)) < len(shape):
        pairs = [(p, q) for q in range(len(shape)) for p in range(q) if shape[p] == shape[q]]
        p, q = m.rng.choice(pairs)
        rest = tuple(e for k, e in enumerate(shape) if k not in (p, q))
        m.add(f"{x}.diagonal(0, {p}, {q})", (*rest, shape[p]))
    elif form == "chunk":
        m.add(f"{x}.narrow({i}, 0, 1)", (*before, "1", *after))
    elif form == "narrow" and extent in NAMES:
        double = product("2", extent)
        m.add(f"torch.cat([{x}, {x} + 1.0], {i})", (*before, double, *after))


def put(m: Maker) -> None:
    """Parts put into others, and tensors of one number."""
    x = m.pick(_some)
    if not x:
        return
    shape, i = m.shape(x), m.axis(x)
    colons, whole, extent = ":, " * i, literal(shape), shape[i]
    pads = f"({'0, 0, ' * (len(shape) - 1 - i)}1, 0)"
    forms = [
        f"torch.full({whole}, 0.5) * {x}", f"{x} + {x}.new_zeros({whole})",
        f"torch.maximum({x}, torch.ones({shape[-1]}))",
        f"{x} * {x}.new_full((), 2.0).expand({whole})",
        f"torch.slice_scatter({x}.new_zeros({whole}), {x}.narrow({i}, 0, 1), {i}, {extent} - 1)",
        f"torch.slice_scatter({x}, {x}[{colons}1:] * 2.0, {i}, 0, -1)",
        f"torch.slice_scatter(torch.zeros({whole}), {x}[{colons}::2].sin(), {i}, 0, {extent}, 2)",
        f"torch.cat([{x}[{colons}1:], -{x}[{colons}:1]], {i})",
        f"torch.nn.functional.pad({x}[{colons}1:], {pads})",
        f"torch.select_scatter(torch.ones({whole}), {x}.select({i}, -1), {i}, 0)",
        f"{x}[{colons}:-1].sum() + {x} * {x}.cos()",
    ]  # fmt: skip
    m.add(m.rng.choice(forms), shape)


def join(m: Maker) -> None:
    x = m.pick()
    assert x
    shape = m.shape(x)
    y = m.pick(lambda s: s == shape)
    assert y
    if m.rng.random() < 0.4 and len(shape) < 4:
        i = m.rng.randrange(len(shape) + 1)
        m.add(f"torch.stack([{x}, {y}], {i})", (*shape[:i], "2", *shape[i:]))
    elif shape and shape[(i := m.axis(x))] in NAMES:
        new = (*shape[:i], product("2", shape[i]), *shape[i + 1 :])
        m.add(f"torch.cat([{x}, {y}], {i})", new)


def index(m: Maker) -> None:
    x = m.pick(lambda s: bool(s) and "(" not in "".join(s))
    if not x:
        return
    shape, i = m.shape(x), m.axis(x)
    extent = shape[i]
    form = m.rng.choice(["select", "gather", "take", "scatter", "mask", "put", "index2", "embed"])
    if form == "gather":
        y = m.input(shape, "i")
        m.add(f"{x}.gather({i}, {y} % {extent})", shape)
    elif form == "mask":
        m.add(f"{x}.masked_fill({x} > 0.3, 0.25)", shape)
    elif form == "scatter":
        y = m.input(shape, "i")
        m.add(f"{x}.scatter_add({i}, {y} % {extent}, {x})", shape)
    elif form == "put":
        m.add(f"{x}.index_add({i}, torch.arange({extent}), {x})", shape)
    else:
        y = m.input((m.rng.choice(["a", "b", "3"]),), "i")
        new = (*shape[:i], m.shape(y)[0], *shape[i + 1 :])
        if form == "select":
            m.add(f"{x}.index_select({i}, {y} % {extent})", new)
        elif form == "index2" and len(shape) > 1:
            m.add(f"{x}[{y} % {shape[0]}, {y} % {shape[1]}]", (m.shape(y)[0], *shape[2:]))
        elif form == "embed" and len(shape) == 2:
            text = f"torch.nn.functional.embedding({y} % {shape[0]}, {x})"
            m.add(text, (m.shape(y)[0], shape[1]))
        else:
            m.add(f"{x}[{':, ' * i}{y} % {extent}]", new)


def matmul(m: Maker) -> None:
    x = m.pick(lambda s: len(s) > 1)
    if not x:
        return
    shape = m.shape(x)
    y = m.pick(lambda s: len(s) == 2 and s[0] == shape[-1])
    if y is None or m.rng.random() < 0.4:
        y = m.input((shape[-1], m.rng.choice(NAMES)))
    new = (*shape[:-1], m.shape(y)[1])
    if m.rng.random() < 0.4:
        z = m.input((m.shape(y)[1],))
        m.add(f"torch.nn.functional.linear({x} * 0.3, {y}.t(), {z})", new)
    else:
        m.add(f"({x} * 0.3) @ {y}", new)


def in_place(m: Maker) -> None:
    source = m.pick()
    assert source
    shape = m.shape(source)
    x = m.add(f"{source}.clone()", shape)
    i = m.axis(x) if shape else 0
    colons = ":, " * i
    y = m.pick(lambda s: s == shape)
    forms = [f"{x}.mul_(0.5)", f"{x}.add_({y})", f"{x}.copy_({y})", f"{x}.sigmoid_()"]
    if shape:
        forms += [
            f"{x}[{colons}0] = 0.5", f"{x}[{colons}1:] = 0.25", f"{x}[{colons}::2] += 1.0",
            f"{x}.select({i}, -1).add_(1.0)", f"{x}.view(-1)[::2].mul_(0.5)",
            f"{x}.masked_fill_({source} > 0, 0.5)", f"{x}.transpose(0, -1).add_(0.5)",
        ]  # fmt: skip
    m.lines.append((x, m.rng.choice(forms)))


def write_input(m: Maker) -> None:
    given = [g for g in m.inputs if g.kind == "f" and g.how != "expanded"]
    if not given:
        return
    x = m.rng.choice(given).name
    m.fixed.add(x)
    y = m.pick(lambda s: s == m.shape(x))
    m.lines.append((x, m.rng.choice([f"{x}.mul_(0.5)", f"{x}.add_({y})", f"{x}.copy_({y}.sin())"])))


STEPS = [
    (unary, 6), (binary, 7), (reduction, 4), (rowwise, 3), (view, 8), (part, 3), (put, 3),
    (join, 2), (index, 2), (matmul, 2), (in_place, 2), (write_input, 1),
    *TYPE_STEPS, *NETWORK_STEPS,
]  # fmt: skip


def add_steps(m: Maker, steps: list[tuple[Callable[[Maker], None], int]], length: int) -> None:
    """Adds steps by their weights until there are so many lines."""
    for _ in range(200):
        if len(m.lines) < length:
            m.rng.choices([s for s, _ in steps], [w for _, w in steps])[0](m)


def results_of(m: Maker) -> list[str]:
    """Some of the values that were made, and the last of them."""
    made = [n for n, (_, kind) in m.values.items() if n.startswith("v") and kind != "tuple"]
    results = m.rng.sample(made, min(len(made), m.rng.randint(1, 4)))
    if made[-1] not in results:
        results.append(made[-1])
    return results


def make(seed: int) -> Program:
    """The program of this number."""
    rng = random.Random(seed)
    m = Maker(rng)
    for _ in range(rng.randint(1, 2)):
        m.input(tuple(rng.choices(NAMES[: rng.randint(1, 4)], k=rng.choice([0, 1, 2, 2, 3, 3, 4]))))
    length = rng.choice([3, 6, 10, 16, 24])
    add_steps(m, STEPS, length)
    results = results_of(m)
    if rng.random() < 0.1:
        results.append(rng.choice(results + [g.name for g in m.inputs]))
    return Program(m.inputs, m.lines, results)
