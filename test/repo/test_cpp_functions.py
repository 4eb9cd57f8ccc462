"""The function finder on the forms our sources use."""

from __future__ import annotations

from cpp_functions import functions

TEXT = """\
namespace quern {
struct Point {
  int x() const { return X; }
  int X = 0;
};

static std::string name(int kind,
                        const char *hint) {
  const char *brace = "}{";
  auto inner = [](int a) { return a; };
  if (kind) {
    return hint; // }
  }
  return brace;
}

Point::Point(int x) : X(x) {
}
} // namespace quern
"""


def test_finds_members_functions_and_constructors() -> None:
    assert list(functions(TEXT)) == [
        ("x", 3, 1),
        ("name", 7, 9),
        ("Point::Point", 17, 2),
    ]
