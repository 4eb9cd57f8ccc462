// JSON for programs that read what a verb says: one object a line.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace quern::tool {

class JsonLines {
public:
  explicit JsonLines(llvm::raw_ostream &out) : out(out) {}

  /// `fill` writes the attributes, in the order of the alphabet.
  void line(llvm::function_ref<void(llvm::json::OStream &out)> fill) {
    llvm::json::OStream json(out);
    json.object([&] { fill(json); });
    out << '\n';
  }

private:
  llvm::raw_ostream &out;
};

} // namespace quern::tool
