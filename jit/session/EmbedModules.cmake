# Writes the library's texts as C++ string constants, in the list's order.
# Called with -DLIST=modules.txt -DOUTPUT=file.cpp.
cmake_path(GET LIST PARENT_PATH folder)
file(STRINGS ${LIST} modules REGEX "^[^#]")
set(rows "")
foreach(module IN LISTS modules)
  file(READ ${folder}/${module} text)
  cmake_path(GET module STEM name)
  cmake_path(GET module PARENT_PATH family)
  # A literal may hold 64 KiB at most on some compilers; pieces concatenate. `sv`
  # knows their length: counted while compiling, it exceeds what clang allows.
  string(REPLACE "\n\n" "\n\n)qn\" R\"qn(" text "${text}")
  string(APPEND rows
    "    {\"${name}\", \"${module}\", \"${family}\", R\"qn(${text})qn\"sv},\n")
endforeach()
file(WRITE ${OUTPUT}.new "#include \"jit/session/EmbeddedModules.h\"

using namespace std::string_view_literals;

namespace {
constexpr quern::jit::EmbeddedModule modules[] = {
${rows}    {{}, {}, {}, {}}};
} // namespace

std::span<const quern::jit::EmbeddedModule> quern::jit::embeddedModules() {
  return {modules, std::size(modules) - 1};
}
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
