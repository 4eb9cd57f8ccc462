// Runs passes of the compiler over textual MLIR, for tests and debugging.
#include "dsl/dialect/Dialect.h"
#include "dsl/passes/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  quern::registerDialects(registry);
  quern::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Quern optimizer driver\n", registry));
}
