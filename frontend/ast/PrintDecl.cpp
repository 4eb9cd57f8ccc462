// Declarations, attributes and the module.
#include "frontend/ast/Print.h"
#include "frontend/ast/Printer.h"

using namespace quern::ast;

void quern::ast::print(const Module &module, llvm::raw_ostream &out) {
  Printer(out).print(module);
}

void Printer::line(const llvm::Twine &text) {
  out.indent(2 * level) << text << '\n';
}

void Printer::print(const Module &module) {
  out << "module\n";
  ++level;
  if (!module.documentation.empty())
    line("doc \"" + module.documentation + "\"");
  for (const Decl *each : module.declarations)
    decl(*each);
  --level;
}

void Printer::attribute(const Attribute &attribute) {
  std::string text = attribute.name.text().str();
  for (const AttributeArgument &argument : attribute.arguments) {
    text += ' ';
    Pattern names{argument.names, argument.span, argument.isTuple};
    if (!argument.names.empty())
      text += dumpText(names) + "=";
    text += dumpText(argument.value);
  }
  line("attribute " + text);
}

void Printer::generic(const GenericParam &generic) {
  std::string text = generic.name.text().str();
  if (generic.type)
    text += ": " + dumpText(generic.type);
  if (const Choice *choice = generic.choice) {
    text += ": ";
    if (choice->subject)
      text += ("match " + choice->subject.text() + " ").str();
    text += "{" + dumpText(choice->values);
    text += choice->hasElse ? " else}" : "}";
  }
  if (generic.defaultValue)
    text += " = " + dumpText(generic.defaultValue);
  line("generic " + text);
}

void Printer::param(const Param &param) {
  std::string text = param.name.text().str();
  if (param.type)
    text += ": " + dumpText(param.type);
  if (param.defaultValue)
    text += " = " + dumpText(param.defaultValue);
  line("param " + text);
}

void Printer::callable(const CallableDecl &decl) {
  for (const GenericParam &each : decl.generics)
    generic(each);
  for (const Param &each : decl.params)
    param(each);
  if (decl.result)
    line("result " + dumpText(decl.result));
  line("body");
  block(decl.body);
}

void Printer::part(const ReductionPart *part) {
  if (!part)
    return;
  line(part->keyword.text());
  ++level;
  for (const Param &each : part->params)
    param(each);
  if (part->result)
    line("result " + dumpText(part->result));
  --level;
  block(part->body);
}

void Printer::reduction(const ReductionDecl &decl) {
  for (const GenericParam &each : decl.generics)
    generic(each);
  for (const Param &each : decl.params)
    param(each);
  for (const TypeField &field : decl.state) {
    std::string text = "state ";
    if (field.name)
      text += (field.name.text() + ": ").str();
    text += dumpText(field.type);
    if (field.initial)
      text += " = " + dumpText(field.initial);
    line(text);
  }
  part(decl.step);
  part(decl.merge);
  part(decl.finish);
}

void Printer::use(const UseDecl &decl) {
  for (const ImportedName &imported : decl.names) {
    std::string alias =
        imported.alias ? (" as " + imported.alias.text()).str() : "";
    line("name " + imported.name.text() + alias);
  }
}

void Printer::decl(const Decl &decl) {
  line(keyword(decl.kind) + " " + decl.name.text());
  ++level;
  for (const Attribute &each : decl.attributes)
    attribute(each);
  if (!decl.documentation.empty())
    line("doc \"" + decl.documentation + "\"");
  if (const auto *imports = llvm::dyn_cast<UseDecl>(&decl))
    use(*imports);
  if (const auto *reduction = llvm::dyn_cast<ReductionDecl>(&decl))
    this->reduction(*reduction);
  if (const auto *callable = llvm::dyn_cast<CallableDecl>(&decl))
    this->callable(*callable);
  if (const auto *constant = llvm::dyn_cast<ConstDecl>(&decl)) {
    line("type " + dumpText(constant->type));
    line("value " + dumpText(constant->value));
  }
  --level;
}
