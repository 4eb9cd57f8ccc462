"""An editor for the tests of the language server, with one document open."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, default_converter, register_lsp_features

TEXT = '''"""Two kernels."""

from softmax use softmax as soft

const SCALE: f32 = 2.0

# é and 😀 take two and four bytes.
elementwise scaled(x: f32, y: f32) -> f32:
    """Scales `x`."""
    let z = x * SCALE
    return z + exp(y)

rowwise mean_of[T: Float](x: T[*R, C]) -> T[*R]:
    let total = sum(soft(x) over C)
    return T(total / acc(T)(size(C)))

elementwise twice(x: f32) -> f32:
    return scaled(x, y = x)
'''


#: The version of each document that the last diagnostics are about; none once it is closed.
VERSIONS: dict[str, int | None] = {}


def published(client: LanguageClient, params: types.PublishDiagnosticsParams) -> None:
    client.diagnostics[params.uri] = params.diagnostics
    VERSIONS[params.uri] = params.version


def make_client() -> LanguageClient:
    made = LanguageClient(converter_factory=default_converter)
    own = {types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: published}
    register_lsp_features(made, {**DEFAULT_CLIENT_FEATURES, **own})
    return made


class Editor:
    """One document that is open in an editor."""

    def __init__(self, client: LanguageClient, path: Path, text: str) -> None:
        self.client, self.text, self.version = client, text, 1
        self.path, self.uri = path, path.as_uri()
        item = types.TextDocumentItem(self.uri, "quern", 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    @property
    def document(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    def place(self, word: str, number: int = 0) -> types.Position:
        """Where `word` begins for the `number`th time, in UTF-16."""
        offset = -1
        for _ in range(number + 1):
            offset = self.text.index(word, offset + 1)
        line = self.text[:offset].split("\n")
        return types.Position(len(line) - 1, len(line[-1].encode("utf-16-le")) // 2)

    def span(self, word: str, number: int = 0) -> types.Range:
        begin = self.place(word, number)
        return types.Range(begin, types.Position(begin.line, begin.character + len(word)))

    def at(self, word: str, number: int = 0) -> dict[str, object]:
        return {"text_document": self.document, "position": self.place(word, number)}

    def change(self, text: str, where: types.Range | None = None) -> None:
        self.version += 1
        self.text = apply(self.text, [types.TextEdit(where, text)]) if where else text
        event = (
            types.TextDocumentContentChangePartial(range=where, text=text)
            if where
            else types.TextDocumentContentChangeWholeDocument(text=text)
        )
        identifier = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [event]))

    async def diagnostics(self) -> list[types.Diagnostic]:
        """Those of the text as it is now."""
        while VERSIONS.get(self.uri, 0) != self.version:
            await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return list(self.client.diagnostics[self.uri])

    async def replaced(self, edit: types.WorkspaceEdit) -> str:
        assert edit.changes
        return apply(self.text, list(edit.changes[self.uri]))


def apply(text: str, edits: list[types.TextEdit]) -> str:
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:n]) for n in range(len(lines) + 1)]

    def offset(place: types.Position) -> int:
        line = lines[place.line] if place.line < len(lines) else ""
        units = line.encode("utf-16-le")[: 2 * place.character]
        return starts[place.line] + len(units.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda e: offset(e.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text
