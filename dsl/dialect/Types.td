// The types of the qn dialect: a tensor operand with named axes, and a part of
// a schedule that others name.
#ifndef QUERN_DSL_DIALECT_TYPES_TD
#define QUERN_DSL_DIALECT_TYPES_TD

include "dsl/dialect/Dialect.td"

def Qn_OperandType : TypeDef<Qn_Dialect, "Operand"> {
  let mnemonic = "tensor";
  let summary = "an operand in memory with named axes";
  let description = [{
    `!qn.tensor<f32, [R, C:1]>` has the axes `R` and `C`, outermost first. What
    follows a name is the stride: `:1` neighbouring elements, `:0` the same
    element everywhere, nothing a stride read from the packet. Signedness is not
    part of the element type; `i1` takes a byte.
  }];
  let parameters = (ins
    "::mlir::Type":$elementType,
    ArrayRefParameter<"::mlir::StringAttr">:$axes,
    ArrayRefParameter<"::quern::StrideClass">:$strides
  );
  let assemblyFormat = "`<` $elementType `,` custom<Axes>($axes, $strides) `>`";
  let genVerifyDecl = 1;
}

def Qn_ExtentsAttr : AttrDef<Qn_Dialect, "Extents"> {
  let mnemonic = "extents";
  let summary = "a condition on how many positions some axes have together";
  let description = [{
    `#qn.extents<[R, C], 8, 64>`: 8 to 64 positions; `-1`: any number from there
    on.
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr">:$axes,
    "::std::int64_t":$least,
    "::std::int64_t":$most
  );
  let assemblyFormat =
    "`<` custom<Names>($axes) `,` $least `,` $most `>`";
}

def Qn_ExtentsListAttr : TypedArrayAttrBase<Qn_ExtentsAttr,
    "conditions that hold together">;

def Qn_PlanType : TypeDef<Qn_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "a part of a schedule that several dispatches share";
  let builderCall = "$_builder.getType<::quern::qn::PlanType>()";
}

#endif
