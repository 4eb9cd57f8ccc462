// The formatter keeps the tree and the comments, and is idempotent.
#include "test/frontend/Parsed.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::test;

namespace {

void expectFaithful(llvm::StringRef text, llvm::StringRef name) {
  Parsed before(text);
  if (before.diagnostics.hasErrors())
    return;
  std::string once = format(before.tokens);
  Parsed after(once);
  EXPECT_FALSE(after.diagnostics.hasErrors()) << name.str() << '\n' << once;
  EXPECT_EQ(before.dump(), after.dump()) << name.str();
  EXPECT_EQ(format(after.tokens), once) << name.str();
  ASSERT_EQ(before.tokens.comments().size(), after.tokens.comments().size());
  for (std::size_t i = 0; i < before.tokens.comments().size(); ++i)
    EXPECT_EQ(before.file->text(before.tokens.comments()[i]).rtrim(),
              after.file->text(after.tokens.comments()[i]));
}

/// Every `.qn` file below a folder of the repository.
unsigned expectFolderFaithful(llvm::StringRef folder) {
  llvm::SmallString<128> path(QUERN_SOURCE_DIR);
  llvm::sys::path::append(path, folder);
  std::error_code error;
  unsigned count = 0;
  for (llvm::sys::fs::recursive_directory_iterator at(path, error), end;
       at != end && !error; at.increment(error)) {
    if (!llvm::StringRef(at->path()).ends_with(".qn"))
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(at->path());
    if (!buffer)
      continue;
    expectFaithful((*buffer)->getBuffer(), at->path());
    ++count;
  }
  return count;
}

} // namespace

TEST(Format, KeepsTheLibrary) {
  EXPECT_GT(expectFolderFaithful("stdlib-kernels"), 0u);
}

TEST(Format, KeepsTheTests) {
  EXPECT_GT(expectFolderFaithful("lit-tests"), 0u);
}

TEST(Format, KeepsOddLayouts) {
  for (const char *text :
       {"fn f(x: f32,\n\n\n y: f32) -> f32: return x\n",
        "fn f(x: f32)\n-> f32:\n  # a\n  return x # b\n # c\n# d",
        "# a\r\nfn f(x: f32) -> f32:\r\n\treturn x\r\n",
        "fn f(x: f32) -> f32:\n  return (x # a\n # b\n + 1\n)\n",
        "const A: i32[2] = [\n  1, # one\n  2, # two\n]\n",
        "fn f(x: f32) -> f32:\n  return 0 .a + 1. .b + 0x1 .c + 1.5.d\n",
        "\n\n\n# only comments\n\n\n# and blank lines\n\n"})
    expectFaithful(text, text);
}

/// A line that is broken before such an argument begins with a keyword.
TEST(Format, KeepsArgumentsNamedLikeKeywords) {
  for (const char *word : {"elif", "from", "let", "return", "shared"})
    expectFaithful("@aten(\"x\", " + std::string(70, 'a') + " = b, " + word +
                       " = c)\nfn f(b: f32, c: f32) -> f32: return b\n",
                   word);
}

TEST(Format, BreaksOnlyWhereLinesAreLong) {
  std::string arguments = "a";
  for (unsigned i = 0; i < 100; ++i)
    arguments += ", argument" + std::to_string(i);
  std::string formatted =
      format(Parsed(returning("f(" + arguments + ")")).tokens);
  for (llvm::StringRef rest = formatted; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    EXPECT_LE(line.size(), lineWidth);
    rest = next;
  }
  expectFaithful(formatted, "long call");
}
