"""What `quern lsp` offers while somebody types, and what it shows within the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from language_editor import TEXT, Editor
from lsprotocol import types
from pytest_lsp import LanguageClient

pytestmark = pytest.mark.asyncio


BROKEN = """from softmax use lo

elementwise f(first: f32, second: f32) -> f32:
    let third = first * 2
    return second + fma(first,
"""


async def labels(editor: Editor, place: types.Position) -> list[str]:
    params = types.CompletionParams(editor.document, place)
    items = await editor.client.text_document_completion_async(params)
    assert items is not None
    return [each.label for each in sorted(items, key=lambda item: item.sort_text)]


async def test_completion_in_a_broken_text(client: LanguageClient, tmp_path: Path) -> None:
    editor = Editor(client, tmp_path / "broken.qn", BROKEN)
    known = await labels(editor, editor.place("fma"))
    assert known.index("third") < known.index("exp")
    assert {"first", "second", "fma", "f32", "return", "scan", "softmax"} - set(known) == {
        "softmax"
    }
    assert "log_softmax" in await labels(editor, types.Position(0, len("from softmax use lo")))
    editor.change("from \n")
    assert {"softmax", "math"} <= set(await labels(editor, types.Position(0, 5)))
    editor.change("@\n")
    assert "portable" in await labels(editor, types.Position(0, 1))
    editor.change("op f(x: f32[N]) -> f32[N]:\n    return x.\n")
    assert "permute" in await labels(editor, types.Position(1, 13))


async def test_no_completion_in_comments_and_new_names(
    client: LanguageClient, tmp_path: Path
) -> None:
    editor = Editor(client, tmp_path / "words.qn", "# a word\nfn \n")
    assert await labels(editor, types.Position(0, 4)) == []
    assert await labels(editor, types.Position(1, 3)) == []


@pytest.mark.parametrize(
    ("call", "label", "argument"),
    [
        ("fma(first, ", "fma(a, b, c)", 1),
        ("fma(exp(first), (second, 1), ", "fma(a, b, c)", 2),
        ("f(second = ", "elementwise f(first: f32, second: f32) -> f32", 1),
        ("exp[", "fn exp[T: Float](x: T) -> T", 0),
        ("sum(", "reduction sum[T: Number](x: T over …)", 0),
    ],
)
async def test_signature_help(
    client: LanguageClient, tmp_path: Path, call: str, label: str, argument: int
) -> None:
    text = BROKEN.replace("fma(first,", call).replace("from softmax use lo\n", "\n")
    editor = Editor(client, tmp_path / "call.qn", text)
    place = types.Position(4, len("    return second + " + call))
    params = types.SignatureHelpParams(editor.document, place)
    shown = await client.text_document_signature_help_async(params)
    assert shown
    assert shown.signatures[0].label == label
    assert shown.active_parameter == argument


async def test_semantic_tokens(editor: Editor) -> None:
    answer = await editor.client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(editor.document)
    )
    assert answer
    legend = ["namespace", "type", "typeParameter", "parameter", "variable", "property"]
    legend += ["function", "macro", "keyword", "comment", "string", "number", "decorator"]
    found, line, character = {}, 0, 0
    for i in range(0, len(answer.data), 5):
        down, right, length, kind, modifiers = answer.data[i : i + 5]
        line, character = line + down, right + (0 if down else character)
        word = TEXT.split("\n")[line].encode("utf-16-le")[2 * character : 2 * (character + length)]
        found[word.decode("utf-16-le")] = (legend[kind], modifiers)
    library = 4
    assert found["exp"] == ("function", library)
    assert found["C"] == ("property", 0)
    assert found["SCALE"] == ("variable", 2)
    assert found["elementwise"] == ("keyword", 0)
    assert found["# é and 😀 take two and four bytes."] == ("comment", 0)


async def test_inlay_hints(editor: Editor) -> None:
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(editor.document, whole)
    )
    assert hints
    assert [each.label for each in hints] == [": f32", ": acc(T) {*R}"]


async def test_highlights(editor: Editor) -> None:
    found = await editor.client.text_document_document_highlight_async(
        types.DocumentHighlightParams(**editor.at("z"))
    )
    assert found
    assert [each.range for each in found] == [editor.span("z"), editor.span("z", 1)]
