# Writes the table of ATen's overloads as one C++ string constant.
# Called with -DTABLE=Schemas.txt -DOUTPUT=file.cpp.
file(STRINGS ${TABLE} lines REGEX "^[^#]")
set(pieces "")
foreach(line IN LISTS lines)
  string(APPEND pieces "    \"${line}\\n\"\n")
endforeach()
file(WRITE ${OUTPUT}.new "#include \"frontend/aten/Schemas.h\"

const std::string_view quern::aten::table{
${pieces}};
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
