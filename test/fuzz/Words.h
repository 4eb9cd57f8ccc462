// Words that fuzzers put into texts: those of the grammar, and some more.
#pragma once

namespace quern::fuzz {

inline constexpr const char *grammarWords[] = {
#define QN_TOKEN(name, description)
#define QN_KEYWORD(name, spelling) spelling,
#define QN_PUNCTUATION(name, spelling) spelling,
#include "frontend/lex/Tokens.def"
    "x",
    "T",
    "acc",
    "*S",
    "1",
    "0x1p3",
    "\"s\"",
    "\n",
    "\n    ",
    "\n        ",
    "state: ",
    "step(s, x: T): ",
    "merge(a, b): ",
    "over (i: 0 .. n)",
    "\"\"\"doc\"\"\"",
    "# comment\n",
    "list[",
    "bound 3",
    "grid(1) block(1)",
    "1e999",
    "\"",
    "\"\"\"",
    "\r\n",
    "\r",
    "\t",
    "é",
    "日本",
    "😀",
    "f32",
    "sum(x over C)",
    "let y = x\n",
    "from math use exp\n"};

} // namespace quern::fuzz
