// One entry out of a text of PTX.
#include "jit/device/EntryText.h"

#include <gtest/gtest.h>

using namespace quern::jit;

namespace {

constexpr std::string_view head = ".version 7.8\n.target sm_90\n\n"
                                  ".shared .b8 states[8];\n";

std::string entry(const std::string &name) {
  return "\n.visible .entry " + name +
         "(\n\t.param .b64 p\n)\n{\n\t{ // call\n\t" + name +
         "_body;\n\t}\n}\n";
}

TEST(EntryText, OneEntryWithWhatIsNoEntry) {
  std::string text(head);
  text += entry("add_thread") + "\t// .globl\tadd_block\n" +
          entry("add_block") + entry("add");
  std::string made = textOfEntry(text, "add_block");
  EXPECT_EQ(made, std::string(head) + "\n\t// .globl\tadd_block\n" +
                      entry("add_block") + "\n");
  made = textOfEntry(text, "add");
  EXPECT_NE(made.find("add_body;"), made.npos);
  EXPECT_EQ(made.find("add_block_body"), made.npos)
      << "a name that another one begins with";
}

TEST(EntryText, NothingToCut) {
  std::string only = std::string(head) + entry("add");
  EXPECT_EQ(textOfEntry(only, "add"), "");
  EXPECT_EQ(textOfEntry(only, "other"), "");
  EXPECT_EQ(textOfEntry("\x7f"
                        "ELF",
                        "add"),
            "");
  EXPECT_EQ(textOfEntry("", "add"), "");
  std::string broken = std::string(head) + entry("add");
  broken.resize(broken.size() - 3);
  EXPECT_EQ(textOfEntry(broken + entry("other").substr(0, 40), "add"), "");
}

} // namespace
