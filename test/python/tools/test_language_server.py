"""`quern lsp` as an editor meets it; the client checks messages against the protocol's types."""

from __future__ import annotations

from pathlib import Path

import pytest
from language_editor import VERSIONS, Editor, apply
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

pytestmark = pytest.mark.asyncio


async def test_diagnostics_follow_the_edits(editor: Editor) -> None:
    assert await editor.diagnostics() == []
    editor.change("unknown", editor.span("SCALE", 1))
    (wrong,) = await editor.diagnostics()
    assert wrong.code == "QN1000"
    assert wrong.range == editor.span("unknown")
    assert wrong.severity == types.DiagnosticSeverity.Error
    editor.change("SCALE", editor.span("unknown"))
    assert await editor.diagnostics() == []


async def test_places_are_utf16(client: LanguageClient, tmp_path: Path) -> None:
    text = 'elementwise f(x: f32) -> f32:\n    """😀é"""\n    return x\n'
    editor = Editor(client, tmp_path / "wide.qn", text)
    assert await editor.diagnostics() == []
    # After the pair: the last letter of the docstring goes.
    editor.change("", editor.span("é"))
    editor.change("unknown", types.Range(types.Position(2, 11), types.Position(2, 12)))
    (wrong,) = await editor.diagnostics()
    assert wrong.range == types.Range(types.Position(2, 11), types.Position(2, 18))


async def test_a_diagnostic_links_its_page_and_the_other_half(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = "const A: f32 = 1\nconst A: f32 = 2\n"
    editor = Editor(client, tmp_path / "two_times.qn", text)
    (wrong,) = await editor.diagnostics()
    assert wrong.related_information
    assert wrong.related_information[0].location.range == editor.span("A")
    assert wrong.code_description
    page = Path(wrong.code_description.href.removeprefix("file://"))
    assert str(wrong.code) in page.read_text()


async def test_closing_takes_the_diagnostics_away(client: LanguageClient, tmp_path: Path) -> None:
    editor = Editor(client, tmp_path / "broken.qn", "fn f(:\n")
    assert await editor.diagnostics()
    client.text_document_did_close(types.DidCloseTextDocumentParams(editor.document))
    while VERSIONS[editor.uri] is not None:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert list(client.diagnostics[editor.uri]) == []


async def test_a_fix_is_an_action(client: LanguageClient, tmp_path: Path) -> None:
    text = "rowwise f(x: f32[R, C]) -> f32[R]:\n    return sum(x[R, C] over C)\n"
    editor = Editor(client, tmp_path / "fixable.qn", text)
    before = await editor.diagnostics()
    assert before
    whole = types.Range(types.Position(0, 0), types.Position(9, 0))
    context = types.CodeActionContext(diagnostics=before)
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(editor.document, whole, context)
    )
    assert actions
    fixes = [each for each in actions if each.kind == "quickfix"]
    (everything,) = (each for each in actions if each.kind == "source.fixAll.quern")
    assert len(fixes) == len(before)
    editor.change(await editor.replaced(everything.edit))
    assert await editor.diagnostics() == []


async def test_formatting(client: LanguageClient, tmp_path: Path) -> None:
    good = "fn f(x: f32) -> f32:\n    return x + 1\n\nfn g(x: f32) -> f32:\n    return x\n"
    editor = Editor(client, tmp_path / "untidy.qn", good.replace("x + 1", "x+1"))
    options = types.FormattingOptions(4, True)
    params = types.DocumentFormattingParams(editor.document, options)
    edits = await client.text_document_formatting_async(params)
    assert edits
    assert apply(editor.text, list(edits)) == good
    assert edits[0].range.start.line == edits[0].range.end.line - 1
    editor.change(good)
    assert not await client.text_document_formatting_async(params)
    editor.change("fn f(:\n")
    with pytest.raises(JsonRpcException, match="syntax errors"):
        await client.text_document_formatting_async(params)


@pytest.mark.parametrize(
    ("word", "number", "shown"),
    [
        ("scaled", 1, "elementwise scaled(x: f32, y: f32) -> f32"),
        ("z", 1, "let z: f32"),
        ("total", 1, "let total: acc(T) {*R}"),
        ("SCALE", 1, "const SCALE: f32 = 2.0"),
        ("C)", 1, "axis C"),
        ("exp", 0, "fn exp[T: Float](x: T) -> T"),
        ("soft(", 0, "rowwise softmax[T: Float]"),
        ("size", 0, "size(AXIS)"),
        ("y = x", 0, "y: f32"),
    ],
)
async def test_hover(editor: Editor, word: str, number: int, shown: str) -> None:
    params = types.HoverParams(**editor.at(word, number))
    hover = await editor.client.text_document_hover_async(params)
    assert hover
    assert isinstance(hover.contents, types.MarkupContent)
    assert shown in hover.contents.value


async def test_hover_shows_the_docstring(editor: Editor) -> None:
    hover = await editor.client.text_document_hover_async(
        types.HoverParams(**editor.at("scaled", 1))
    )
    assert hover
    assert "Scales `x`." in hover.contents.value


async def test_definition_here_and_in_the_library(editor: Editor) -> None:
    ask = editor.client.text_document_definition_async
    here = await ask(types.DefinitionParams(**editor.at("z", 1)))
    assert (here.uri, here.range) == (editor.uri, editor.span("z"))
    there = await ask(types.DefinitionParams(**editor.at("soft(")))
    lines = Path(there.uri.removeprefix("file://")).read_text().split("\n")
    assert lines[there.range.start.line].startswith("rowwise softmax[")


async def test_references_into_the_library(editor: Editor) -> None:
    context = types.ReferenceContext(include_declaration=True)
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(context=context, **editor.at("exp"))
    )
    assert found
    assert types.Location(editor.uri, editor.span("exp")) in found
    files = {Path(each.uri).name for each in found}
    assert {"math.qn", "softmax.qn"} <= files


async def test_references_here(editor: Editor) -> None:
    context = types.ReferenceContext(include_declaration=False)
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(context=context, **editor.at("SCALE"))
    )
    assert found
    assert list(found) == [types.Location(editor.uri, editor.span("SCALE", 1))]


async def test_symbols(editor: Editor) -> None:
    symbols = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(editor.document)
    )
    assert symbols
    assert [each.name for each in symbols] == ["SCALE", "scaled", "mean_of", "twice"]


@pytest.mark.parametrize(
    ("word", "number", "name"),
    [("x: f32", 0, "w"), ("SCALE", 1, "FACTOR"), ("C]", 0, "D"), ("scaled", 0, "grown")],
)
async def test_rename(editor: Editor, word: str, number: int, name: str) -> None:
    edit = await editor.client.text_document_rename_async(
        types.RenameParams(new_name=name, **editor.at(word, number))
    )
    assert edit
    assert edit.changes
    edits = list(edit.changes[editor.uri])
    assert len(edits) > 1
    await editor.diagnostics()
    editor.change(apply(editor.text, edits))
    assert await editor.diagnostics() == []


@pytest.mark.parametrize(
    ("word", "name", "why"),
    [
        ("exp", "power", "a name of the library"),
        ("size", "extent", "builtin"),
        ("softmax", "other", "the name of its file"),
        ("z", "while", "a keyword"),
        ("z", "f32", "a type"),
        ("z", "1z", "not a name"),
        ("z", "x", "something else"),
        ("scaled", "twice", "something else"),
    ],
)
async def test_refused_renames(editor: Editor, word: str, name: str, why: str) -> None:
    with pytest.raises(JsonRpcException, match=why):
        await editor.client.text_document_rename_async(
            types.RenameParams(new_name=name, **editor.at(word))
        )


async def test_names_of_a_module_beside(client: LanguageClient, tmp_path: Path) -> None:
    part = Editor(client, tmp_path / "part.qn", "fn one(x: f32) -> f32:\n    return x\n")
    whole = Editor(
        client,
        tmp_path / "whole.qn",
        "from part use one\n\nfn two(x: f32) -> f32:\n    return one(x) + one(x)\n",
    )
    ask = client.text_document_definition_async
    found = await ask(types.DefinitionParams(**whole.at("one(")))
    assert (found.uri, found.range) == (part.uri, part.span("one"))
    edit = await client.text_document_rename_async(
        types.RenameParams(new_name="same", **part.at("one"))
    )
    assert edit
    assert edit.changes
    assert [len(edit.changes[each.uri]) for each in (part, whole)] == [1, 3]
    # What the other editor shows counts, not the disk.
    assert await whole.diagnostics() == []
    part.change("fn none_here(x: f32) -> f32:\n    return x\n")
    while not client.diagnostics[whole.uri]:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)


async def test_a_module_that_is_saved_elsewhere(client: LanguageClient, tmp_path: Path) -> None:
    part = tmp_path / "part.qn"
    part.write_text("fn one(x: f32) -> f32:\n    return x\n")
    text = "from part use one\n\nfn two(x: f32) -> f32:\n    return one(x)\n"
    editor = Editor(client, tmp_path / "whole.qn", text)
    assert await editor.diagnostics() == []
    part.write_text("fn other(x: f32) -> f32:\n    return x\n")
    client.text_document_did_save(types.DidSaveTextDocumentParams(editor.document))
    while not client.diagnostics[editor.uri]:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    # Where the module has a mistake, its name here is marked.
    part.write_text("fn one(x: f32) -> f32:\n    return unknown\n")
    client.text_document_did_save(types.DidSaveTextDocumentParams(editor.document))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    (wrong, *_) = client.diagnostics[editor.uri]
    assert wrong.range == editor.span("part")
    assert wrong.related_information
    assert wrong.related_information[0].location.uri == part.as_uri()
