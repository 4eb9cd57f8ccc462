// Every field, with its length where it varies.
#include "jit/session/Keys.h"

#include <cstring>

using namespace quern;

namespace {

struct Bytes {
  std::string text;

  void byte(unsigned value) { text += static_cast<char>(value); }
  void number(std::uint64_t value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void string(const std::string &value) {
    number(value.size());
    text += value;
  }
  void operator()(std::int64_t value) { number(value); }
  void operator()(bool value) { byte(value); }
  void operator()(const std::string &value) { string(value); }
  void operator()(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    number(bits);
  }
  void operator()(std::monostate) {}
};

} // namespace

std::string quern::jit::keyText(const Specialization &specialization) {
  Bytes bytes;
  bytes.byte(specialization.typeArguments.size());
  for (ElementType type : specialization.typeArguments)
    bytes.byte(static_cast<unsigned>(type));
  for (const ConstantArgument &argument : specialization.constantArguments) {
    bytes.byte(argument.index());
    std::visit(bytes, argument);
  }
  bytes.byte(specialization.axisRanks.size());
  for (std::uint8_t rank : specialization.axisRanks)
    bytes.byte(rank);
  for (const OperandLayout &operand : specialization.operands) {
    bytes.byte(operand.present);
    bytes.byte(operand.strides.size());
    for (StrideClass stride : operand.strides)
      bytes.byte(static_cast<unsigned>(stride));
  }
  bytes.byte(specialization.unitScalars.size());
  for (bool isOne : specialization.unitScalars)
    bytes.byte(isOne);
  bytes.byte(specialization.listLengths.size());
  for (std::uint16_t length : specialization.listLengths)
    bytes.number(length);
  bytes.byte(specialization.narrowOffsets);
  bytes.byte(specialization.listed);
  return bytes.text;
}

std::string quern::jit::keyText(const TargetInfo &target) {
  Bytes bytes;
  for (const std::string *part :
       {&target.name, &target.triple, &target.cpu, &target.features})
    bytes.string(*part);
  for (std::int64_t number :
       {std::int64_t{target.vectorBytes}, std::int64_t{target.vectorRegisters},
        std::int64_t{target.hasFma}, std::int64_t{target.hasMask},
        target.l1Bytes, target.l2Bytes, target.l3Bytes,
        std::int64_t{target.cores}, std::int64_t(target.kind),
        std::int64_t{target.warp}})
    bytes.number(number);
  return bytes.text;
}
