"""What no good editor sends to `quern lsp`: damaged, early, late and cancelled messages."""

from __future__ import annotations

import json
import subprocess
from typing import Any

URI = "file:///nowhere/text.qn"


def frame(message: object, **options: bool) -> bytes:
    body = json.dumps(message, **options).encode("utf-8", "surrogatepass")
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def request(number: int | str, method: str, **params: object) -> bytes:
    return frame({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def notification(method: str, **params: object) -> bytes:
    return frame({"jsonrpc": "2.0", "method": method, "params": params})


def opened(text: str) -> bytes:
    item = {"uri": URI, "languageId": "quern", "version": 1, "text": text}
    return notification("textDocument/didOpen", textDocument=item)


def symbols(number: int | str) -> bytes:
    return request(number, "textDocument/documentSymbol", textDocument={"uri": URI})


BEGIN = request(1, "initialize") + notification("initialized")
END = request("end", "shutdown") + notification("exit")


def serve(sent: bytes) -> tuple[int, list[dict[str, Any]]]:
    done = subprocess.run(
        ["quern", "lsp"], input=sent, capture_output=True, check=False, timeout=120
    )
    messages, rest = [], done.stdout
    while rest:
        head, rest = rest.split(b"\r\n\r\n", 1)
        length = int(head.split(b":")[1])
        messages.append(json.loads(rest[:length]))
        rest = rest[length:]
    return done.returncode, messages


def answers(messages: list[dict[str, Any]]) -> dict[object, Any]:
    """The results by the request; of an error its code."""
    return {
        each["id"]: each["error"]["code"] if "error" in each else each["result"]
        for each in messages
        if "id" in each
    }


def test_ends_as_the_protocol_says() -> None:
    assert serve(BEGIN + END)[0] == 0
    assert serve(BEGIN)[0] == 1
    assert serve(BEGIN + notification("exit"))[0] == 1
    assert serve(b"")[0] == 1


def test_order_of_life() -> None:
    status, messages = serve(
        symbols(2) + BEGIN + request(3, "initialize") + request(4, "no/method") + symbols(5) + END
    )
    got = answers(messages)
    assert status == 0
    assert (got[2], got[3], got[4], got[5]) == (-32002, -32600, -32601, -32602)
    late = answers(serve(BEGIN + request(6, "shutdown") + symbols(7) + END)[1])
    assert late[7] == -32600


def test_damaged_messages() -> None:
    bad = b'Content-Length: 5\r\n\r\n{"a":'
    deep = b"Content-Length: 1000000\r\n\r\n" + b"[" * 1_000_000
    nameless = b"Content-Type: x\r\n\r\n"
    strange = frame([1, 2]) + frame(7) + frame({"jsonrpc": "2.0", "id": 8})
    odd = notification("textDocument/didChange") + notification("textDocument/didOpen")
    wrong = frame({"jsonrpc": "2.0", "id": 9, "method": "textDocument/hover", "params": [1]})
    status, messages = serve(
        BEGIN + bad + deep + nameless + strange + odd + wrong + opened("fn f(") + symbols(10) + END
    )
    assert status == 0
    codes = [each["error"]["code"] for each in messages if "error" in each]
    assert codes == [-32700, -32700, -32700, -32600, -32600, -32600, -32602]
    assert answers(messages)[10] is not None


def test_a_message_that_says_to_be_endless() -> None:
    status, messages = serve(BEGIN + b"Content-Length: 99999999999999\r\n\r\n{}")
    assert status == 1
    assert len(messages) == 1


def test_a_large_text() -> None:
    text = "fn f(x: f32) -> f32:\n    return x\n\n" * 1000 + "# " + "é" * 2_000_000 + "\n"
    status, messages = serve(BEGIN + opened(text) + symbols(2) + END)
    assert status == 0
    assert len(answers(messages)[2]) == 1000


def test_text_that_is_no_utf8() -> None:
    body = opened("const A: f32 = 1\n# X\n").replace(b"# X", b"\x80\xff\xfe")
    status, messages = serve(BEGIN + body + symbols(2) + END)
    assert status == 0
    assert [each["name"] for each in answers(messages)[2]] == ["A"]


def test_surrogates_without_their_other_half() -> None:
    status, messages = serve(BEGIN + opened("const A: f32 = 1 # \ud800\n") + symbols(2) + END)
    assert status == 0
    assert [each["name"] for each in answers(messages)[2]] == ["A"]


def test_places_far_outside() -> None:
    far = {"line": 2**40, "character": -5}
    change = {"range": {"start": far, "end": {"line": 0, "character": 0}}, "text": "# end\n"}
    status, messages = serve(
        BEGIN
        + opened("const A: f32 = 1\n")
        + notification(
            "textDocument/didChange", textDocument={"uri": URI}, contentChanges=[change, 7, {}]
        )
        + request(2, "textDocument/hover", textDocument={"uri": URI}, position=far)
        + symbols(3)
        + END
    )
    assert status == 0
    assert answers(messages)[2] is None
    assert len(answers(messages)[3]) == 1


def test_cancelled_requests() -> None:
    """What was not begun when the cancellation came is answered with the error for that."""
    text = "fn f(x: f32) -> f32:\n    return x\n\n" * 2000
    many = b"".join(symbols(number) for number in range(2, 40))
    status, messages = serve(
        BEGIN + opened(text) + many + notification("$/cancelRequest", id=39) + END
    )
    got = answers(messages)
    assert status == 0
    assert got[39] == -32800
    assert len(got[2]) == 2000
    assert set(got) == {1, "end", *range(2, 40)}
