// Declarations, signatures and types, and lists in brackets.
#include "frontend/reduce/Collector.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace quern;
using namespace quern::reduce;
using namespace quern::ast;

std::string reduce::applied(llvm::StringRef text, const Edit &edit) {
  return (text.take_front(edit.begin) + edit.text + text.substr(edit.end))
      .str();
}

std::vector<Edit> reduce::candidates(const TokenBuffer &tokens,
                                     const Module &module,
                                     llvm::ArrayRef<std::string> kept) {
  Collector collector(tokens.file(), kept);
  collector.comments(tokens);
  collector.module(module);
  std::vector<Edit> edits = std::move(collector.edits);
  llvm::sort(edits, [](const Edit &a, const Edit &b) {
    return std::tuple(b.saved(), a.begin, a.end, a.text) <
           std::tuple(a.saved(), b.begin, b.end, b.text);
  });
  return edits;
}

void Collector::comments(const TokenBuffer &tokens) {
  for (Span comment : tokens.comments())
    add(comment, "");
  for (std::size_t index = 0; index != tokens.size(); ++index)
    if (tokens.kind(index) == TokenKind::Docstring)
      edits.push_back(lines(tokens.span(index), tokens.span(index)));
}

/// From the start of the first line to the start of the line after the last.
/// The span of what has a block ends where the next line begins.
Edit Collector::lines(Span first, Span last) const {
  llvm::StringRef whole = file.text();
  std::size_t begin = whole.rfind('\n', local(first.begin));
  begin = begin == llvm::StringRef::npos ? 0 : begin + 1;
  std::size_t end =
      whole.find('\n', local(last.begin) + text(last).rtrim().size());
  end = end == llvm::StringRef::npos ? whole.size() : end + 1;
  return {begin, end, ""};
}

void Collector::runs(llvm::ArrayRef<Span> spans, llvm::StringRef whenEmpty) {
  for (std::size_t width = spans.size(); width > 0; width /= 2)
    for (std::size_t at = 0; at < spans.size(); at += width) {
      std::size_t last = std::min(at + width, spans.size()) - 1;
      bool isAll = at == 0 && last + 1 == spans.size();
      if (isAll && !whenEmpty.empty())
        add({spans.front().begin, spans.back().end}, whenEmpty);
      else
        edits.push_back(lines(spans[at], spans[last]));
    }
}

void Collector::element(llvm::ArrayRef<Span> spans, std::size_t number) {
  Span span = spans[number];
  if (number + 1 < spans.size())
    return add({span.begin, spans[number + 1].begin}, "");
  if (number > 0)
    return add({spans[number - 1].end, span.end}, "");
  llvm::StringRef whole = file.text();
  std::size_t begin = local(span.begin), end = local(span.end);
  bool isSquare = begin > 0 && whole[begin - 1] == '[' && whole[end] == ']';
  edits.push_back({begin - isSquare, end + isSquare, ""});
}

void Collector::eachElement(llvm::ArrayRef<Span> spans) {
  for (std::size_t number = 0; number != spans.size(); ++number)
    element(spans, number);
}

template <typename Row>
static llvm::SmallVector<Span, 8> spansOf(llvm::ArrayRef<Row> rows) {
  llvm::SmallVector<Span, 8> spans;
  for (const Row &row : rows)
    spans.push_back(row.span);
  return spans;
}

void Collector::module(const Module &module) {
  llvm::SmallVector<Span, 16> spans;
  for (const Decl *decl : module.declarations)
    if (!llvm::is_contained(kept, decl->name.text()))
      spans.push_back(decl->span);
  // With a kept one between them a run would take that as well.
  if (spans.size() == module.declarations.size())
    runs(spans, "");
  else
    for (Span span : spans)
      edits.push_back(lines(span, span));
  for (const Decl *decl : module.declarations)
    declaration(*decl);
}

void Collector::declaration(const Decl &decl) {
  for (const Attribute &attribute : decl.attributes)
    edits.push_back(lines(attribute.span, attribute.span));
  if (const auto *use = llvm::dyn_cast<UseDecl>(&decl)) {
    llvm::SmallVector<Span, 8> spans;
    for (const ImportedName &name : use->names)
      spans.push_back(join(name.name.span, name.alias.span));
    if (spans.size() > 1)
      eachElement(spans);
  } else if (const auto *constant = llvm::dyn_cast<ConstDecl>(&decl)) {
    expression(constant->value);
  } else if (const auto *callable = llvm::dyn_cast<CallableDecl>(&decl)) {
    if (!llvm::is_contained(kept, decl.name.text()))
      signature(*callable);
    block(callable->body);
  } else if (const auto *monoid = llvm::dyn_cast<ReductionDecl>(&decl)) {
    reduction(*monoid);
  }
}

void Collector::signature(const CallableDecl &decl) {
  generics(decl.generics);
  params(decl.params);
  type(decl.result);
}

void Collector::reduction(const ReductionDecl &decl) {
  generics(decl.generics);
  params(decl.params);
  fields(decl.state);
  for (const ReductionPart *part : {decl.step, decl.merge, decl.finish}) {
    if (!part)
      continue;
    if (part == decl.finish)
      edits.push_back(lines(part->span, part->span));
    params(part->params);
    block(part->body);
  }
}

void Collector::generics(llvm::ArrayRef<GenericParam> generics) {
  eachElement(spansOf(generics));
  for (const GenericParam &generic : generics) {
    type(generic.type);
    expression(generic.defaultValue);
  }
}

void Collector::params(llvm::ArrayRef<Param> params) {
  eachElement(spansOf(params));
  for (const Param &param : params) {
    type(param.type);
    if (param.type && param.defaultValue)
      add({param.type->span.end, param.defaultValue->span.end}, "");
    expression(param.defaultValue);
  }
}

void Collector::fields(llvm::ArrayRef<TypeField> fields) {
  llvm::SmallVector<Span, 8> spans;
  for (const TypeField &field : fields) {
    Span span = field.name.span;
    if (field.type)
      span = join(span, field.type->span);
    spans.push_back(field.initial ? join(span, field.initial->span) : span);
    type(field.type);
    expression(field.initial);
  }
  if (spans.size() > 1)
    eachElement(spans);
}

void Collector::dimension(const Dimension &dimension) {
  if (dimension.kind == Dimension::Kind::Group && !dimension.parts.empty())
    add(dimension.span, text(dimension.parts.front().span));
  if (dimension.extent && dimension.kind != Dimension::Kind::Extent)
    add(dimension.span, dimension.name.text());
  expression(dimension.extent);
}

void Collector::type(const Type *type) {
  if (!type)
    return;
  auto within = [&](const Type *inner) {
    add(type->span, text(inner->span));
    this->type(inner);
  };
  if (const auto *tensor = llvm::dyn_cast<TensorType>(type)) {
    within(tensor->element);
    if (tensor->dimensions.size() > 1)
      eachElement(spansOf(llvm::ArrayRef(tensor->dimensions)));
    for (const Dimension &row : tensor->dimensions)
      dimension(row);
  } else if (const auto *call = llvm::dyn_cast<AppliedType>(type)) {
    for (const Type *argument : call->arguments)
      within(argument);
  } else if (const auto *list = llvm::dyn_cast<ListType>(type)) {
    within(list->element);
  } else if (const auto *optional = llvm::dyn_cast<OptionalType>(type)) {
    within(optional->inner);
  } else if (const auto *mut = llvm::dyn_cast<MutType>(type)) {
    within(mut->inner);
  } else if (const auto *tuple = llvm::dyn_cast<TupleType>(type)) {
    fields(tuple->fields);
    for (const TypeField &field : tuple->fields)
      within(field.type);
  }
}
