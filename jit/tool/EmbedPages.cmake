# Writes the pages of the diagnostics as C++ string constants, in the list's
# order. Called with -DPAGES=a.md;b.md -DOUTPUT=file.cpp.
set(rows "")
foreach(page IN LISTS PAGES)
  file(READ ${page} text)
  cmake_path(GET page STEM code)
  string(APPEND rows "    {\"${code}\", R\"qn(${text})qn\"sv},\n")
endforeach()
file(WRITE ${OUTPUT}.new "#include \"jit/tool/Pages.h\"

using namespace std::string_view_literals;

namespace {
constexpr quern::tool::Page pages[] = {
${rows}    {{}, {}}};
} // namespace

std::span<const quern::tool::Page> quern::tool::diagnosticPages() {
  return {pages, std::size(pages) - 1};
}
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
