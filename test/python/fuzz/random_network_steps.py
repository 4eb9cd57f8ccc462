"""Steps of random programs: integers, conditions, other element types, parts of networks."""

from __future__ import annotations

from random_inputs import NAMES, Shape
from random_maker import Maker, literal, product


def integers(m: Maker) -> None:
    x = m.pick(kind="i")
    if not x or m.rng.random() < 0.3:
        x = m.input(tuple(m.rng.choices(NAMES, k=m.rng.randint(0, 3))), "i")
    shape = m.shape(x)
    y = m.pick(lambda s: s == shape, kind="i")
    forms = [
        "{x} * 3 - 1", "{x} // 3", "{x} % 5 - 2", "{x} + {y}", "torch.maximum({x}, {y})",
        "-{x}", "{x}.clamp(1, 9)", "{x} & 6", "{x} ^ {y}", "{x}.to(torch.int32).long()",
        "torch.where({x} > {y}, {x}, 7)", "{x}.abs() >> 1", "({x} % 4).pow(2)",
    ]  # fmt: skip
    m.add(m.rng.choice(forms).format(x=x, y=y), shape, "i")


def integer_rows(m: Maker) -> None:
    x = m.pick(bool, kind="i")
    if not x:
        return
    shape, i = m.shape(x), m.axis(x)
    rest = (*shape[:i], *shape[i + 1 :])
    form = m.rng.choice(["sum", "amax", "cumsum", "sort", "any", "all", "float", "bool"])
    if form in ("sum", "amax"):
        m.add(f"{x}.{form}({i})", rest, "i")
    elif form == "cumsum":
        m.add(f"{x}.cumsum({i})", shape, "i")
    elif form == "sort":
        m.add(f"{x}.sort({i})[0]", shape, "i")
    elif form in ("any", "all"):
        m.add(f"({x} > 20).{form}({i})", rest, "b")
    elif form == "float":
        m.add(f"{x} / 25", shape)
    else:
        m.add(f"{x}.bool()", shape, "b")


def conditions(m: Maker) -> None:
    x = m.pick()
    assert x
    shape = m.shape(x)
    known = m.pick(lambda s: s == shape, kind="b")
    y = m.pick(lambda s: s == shape)
    form = m.rng.choice(["make", "make", "join", "use", "count", "number"])
    if form == "make" or not known:
        m.add(m.rng.choice([f"{x} > 0.1", f"{x} <= {y}", f"{x}.isfinite()"]), shape, "b")
    elif form == "join":
        m.add(f"{known} & ~({x} > 0.3)", shape, "b")
    elif form == "use":
        m.add(f"torch.where({known}, {x}, {y} * 2)", shape)
    elif form == "count":
        m.add(f"{known}.sum()", (), "i")
    else:
        m.add(f"{known} * {x}", shape)


def types(m: Maker) -> None:
    x = m.pick()
    assert x
    shape = m.shape(x)
    forms = [
        "({x}.double() * 2).sin().float()", "{x}.to(torch.float64).sum().float() * 0.01",
        "torch.tensor(0.5) * {x}", "({x} > 0).float() * 0.5", "{x}.new_ones({s}) + {x}",
        "torch.arange({n}).float().reshape({s}) * 0.01",
        "{x}.view(torch.int32).view(torch.float32)",
    ]  # fmt: skip
    form = m.rng.choice(forms)
    result = () if ".sum()" in form else shape
    m.add(form.format(x=x, s=literal(shape), n=product(*shape)), result)


def several(m: Maker) -> None:
    """Operators with more than one result."""
    x = m.pick(bool)
    if not x:
        return
    shape, i = m.shape(x), m.axis(x)
    rest = (*shape[:i], *shape[i + 1 :])
    form = m.rng.choice(["max", "var_mean", "unbind", "split", "aminmax", "topk", "argmax"])
    if form == "max":
        m.add(f"{x}.max({i})[0]", rest)
    elif form == "var_mean":
        pair = m.add(f"torch.var_mean({x}.tanh(), {i}, correction=0)", (), "tuple")
        m.add(f"{pair}[0] + {pair}[1]", rest)
    elif form == "unbind":
        pair = m.add(f"{x}.unbind({i})", (), "tuple")
        m.add(f"{pair}[0] * {pair}[-1]", rest)
    elif form == "split" and shape[i] in NAMES:
        pair = m.add(f"torch.cat([{x}, {x}.sin()], {i}).split({shape[i]}, {i})", (), "tuple")
        m.add(f"{pair}[1] - {pair}[0]", shape)
    elif form == "aminmax":
        pair = m.add(f"torch.aminmax({x}, dim={i})", (), "tuple")
        m.add(f"{pair}[1] - {pair}[0]", rest)
    elif form == "topk":
        m.add(f"{x}.topk(1, {i})[0]", (*shape[:i], "1", *shape[i + 1 :]))
    else:
        m.add(f"{x}.detach().argmax({i}, keepdim=True)", (*shape[:i], "1", *shape[i + 1 :]), "i")


def images(m: Maker) -> None:
    """Convolution, normalization and pooling."""
    x = m.pick(lambda s: len(s) == 4 and all(e in NAMES for e in s))
    if not x:
        return
    n, c, h, w = m.shape(x)
    functional = "torch.nn.functional"
    form = m.rng.choice(["conv", "depthwise", "batch", "group", "pool", "mean", "up", "last"])
    if form == "conv":
        out = m.rng.choice(NAMES)
        kernel = m.input((out, c, "3", "3"))
        m.add(f"{functional}.conv2d({x} * 0.3, {kernel}, padding=1)", (n, out, h, w))
    elif form == "depthwise":
        kernel = m.input((c, "1", "3", "3"))
        m.add(f"{functional}.conv2d({x} * 0.3, {kernel}, padding=1, groups={c})", (n, c, h, w))
    elif form == "batch":
        scale, shift = m.input((c,)), m.input((c,))
        text = f"{functional}.batch_norm({x}, None, None, {scale}, {shift}, True, eps=0.1)"
        m.add(text, m.shape(x))
    elif form == "group":
        m.add(f"{functional}.group_norm({x}, 1, eps=0.1)", m.shape(x))
    elif form == "pool":
        m.add(f"{functional}.max_pool2d({x}, 3, 1, 1)", m.shape(x))
    elif form == "mean":
        m.add(f"{functional}.avg_pool2d({x}, 3, 1, 1)", m.shape(x))
    elif form == "up":
        new = (n, c, product("2", h), product("2", w))
        m.add(f"{functional}.interpolate({x}, scale_factor=2)", new)
    else:
        m.add(f"{x}.contiguous(memory_format=torch.channels_last)", m.shape(x))


def attention(m: Maker) -> None:
    x = m.pick(lambda s: len(s) == 3)
    if not x:
        return
    shape = m.shape(x)
    scores = m.add(f"{x} @ {x}.transpose(1, 2) * 0.1", (shape[0], shape[1], shape[1]))
    if m.rng.random() < 0.5:
        ones = f"torch.ones({shape[1]}, {shape[1]}, dtype=torch.bool).tril()"
        scores = m.add(f"{scores}.masked_fill(~{ones}, float('-inf'))", m.shape(scores))
    weights = m.add(f"{scores}.softmax(-1)", m.shape(scores))
    m.add(f"{weights} @ {x}", shape)


def losses(m: Maker) -> None:
    x = m.pick(lambda s: len(s) == 2)
    if not x:
        return
    rows, classes = m.shape(x)
    functional = "torch.nn.functional"
    target = m.input((rows,), "i")
    forms = [
        f"{functional}.cross_entropy({x}, {target} % {classes})",
        f"{functional}.cross_entropy({x}, {target} % {classes}, label_smoothing=0.1)",
        f"{functional}.mse_loss({x}, {x}.detach() * 0.5)",
        f"{functional}.smooth_l1_loss({x}, {x}.detach() + 0.7)",
        f"{functional}.binary_cross_entropy_with_logits({x}, {x}.detach().sigmoid())",
    ]
    m.add(m.rng.choice(forms), ())


def norms(m: Maker) -> None:
    """Normalization of rows with weights, and the residual around it."""
    x = m.pick(bool)
    if not x:
        return
    shape: Shape = m.shape(x)
    scale, shift = m.input((shape[-1],)), m.input((shape[-1],))
    functional = "torch.nn.functional"
    forms = [
        f"{functional}.layer_norm({x}, ({shape[-1]},), {scale}, {shift}, eps=0.1) + {x}",
        f"{functional}.rms_norm({x}, ({shape[-1]},), {scale}, eps=0.1) * {shift}",
        f"{x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 0.1) * {scale}",
        f"{functional}.gelu({x} * {scale} + {shift}, approximate='tanh')",
    ]
    m.add(m.rng.choice(forms), shape)


TYPE_STEPS = [(integers, 2), (integer_rows, 2), (conditions, 3), (types, 2), (several, 2)]
NETWORK_STEPS = [(images, 2), (attention, 1), (losses, 1), (norms, 2)]
