// Back ends of LLVM that are not linked have nothing to initialise.

#define QN_OTHER_TARGET(name)                                                  \
  extern "C" void LLVMInitialize##name##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##name##Target() {}                            \
  extern "C" void LLVMInitialize##name##TargetMC() {}                          \
  extern "C" void LLVMInitialize##name##AsmPrinter() {}                        \
  extern "C" void LLVMInitialize##name##AsmParser() {}
#include "jit/codegen/OtherTargets.def"
