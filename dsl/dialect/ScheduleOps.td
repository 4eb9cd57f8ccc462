// The operations of a schedule: which launches a kernel becomes, how each cuts
// its axes, and what it keeps where.
#ifndef QUERN_DSL_DIALECT_SCHEDULEOPS_TD
#define QUERN_DSL_DIALECT_SCHEDULEOPS_TD

include "dsl/dialect/Types.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/RegionKindInterface.td"

class Qn_Cases<string name, string summary, list<string> names,
               list<string> words>
    : I32EnumAttr<name, summary, !foreach(i, !range(!size(names)),
        I32EnumAttrCase<names[i], i, words[i]>)> {
  let cppNamespace = "::quern::qn";
}

def Qn_LaunchKind : Qn_Cases<"LaunchKind", "what a launch does",
  ["Stores", "Scatter", "Sort", "Partials", "Merge", "Begins", "Compact",
   "Pack", "Contract", "Stream", "SumParts", "SumMerge", "PackColumns", "Rows",
   "ColumnParts", "ColumnMerge"],
  ["stores", "scatter", "sort", "partials", "merge", "begins", "compact",
   "pack", "contract", "stream", "sum_parts", "sum_merge", "pack_columns",
   "rows", "column_parts", "column_merge"]>;

def Qn_RowOrder : Qn_Cases<"RowOrder", "how short rows side by side are read",
  ["InTurns", "Masked", "Whole"], ["in_turns", "masked", "whole"]>;

def Qn_TeamKind : Qn_Cases<"TeamKind", "which threads of a GPU share a unit",
  ["Thread", "Warp", "Block", "Cluster"],
  ["thread", "warp", "block", "cluster"]>;

/// A part of a schedule.
class Qn_SchedulePartOf<string mnemonic, list<string> parents,
                        list<Trait> traits = []>
    : Qn_Op<mnemonic, !listconcat([ParentOneOf<parents>], traits)>;
class Qn_SchedulePart<string mnemonic, string parent, list<Trait> traits = []>
    : Qn_SchedulePartOf<mnemonic, [parent], traits>;

/// A part that holds others.
class Qn_ScheduleFrame<string mnemonic, string parent, list<Trait> traits = []>
    : Qn_SchedulePart<mnemonic, parent,
        !listconcat([NoTerminator, SingleBlock, NoRegionArguments], traits)> {
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    ::mlir::Block &block() { return getBody().front(); }
  }];
}

def Qn_ScheduleOp : Qn_ScheduleFrame<"schedule", "RowwiseOp"> {
  let summary = "how a kernel runs on a target";
  let description = [{
    It is the last operation of a kernel. Its dispatches run in the order of the
    text. Of dispatches that compute the same value, exactly one set runs for a
    call. Their conditions are `arith` operations on sizes and scalars before the
    dispatches. The host evaluates them for each call.
    `slots` gives the place in the workspace that each staged operand of the
    kernel has; operands of one slot are needed one after the other. From byte
    `parts` of the workspace on lie the parts of reductions that tasks share. A
    loop whose body has more than `masked_above` vectors masks all iterations:
    the body is too long to be made a second time for the rest.

    ```mlir
    qn.schedule for "x86-64-v4" parts 0 masked_above 94 {
      qn.inner I lanes 16 copies 2 reduce_copies 8
      qn.dispatch stores of [0] parallel [I] lane I worth 10922 streams {
        qn.loop I tile 4096 lanes 16 copies 1
      }
    }
    ```
  }];
  let arguments = (ins StrAttr:$target, OptionalAttr<DenseI64ArrayAttr>:$slots, I64Attr:$parts,
    OptionalAttr<I64Attr>:$masked_above);
  let assemblyFormat = [{
    `for` $target (`slots` $slots^)? `parts` $parts
    (`masked_above` $masked_above^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Qn_InnerLoopOp : Qn_SchedulePart<"inner", "ScheduleOp"> {
  let summary = "how loops inside a unit walk over an axis";
  let description = [{
    Of the axes of a loop inside a unit, the lanes run along the one whose
    `qn.inner` comes first. They run along an `unsuited` axis only if the
    dispatch names it as its `lane`, or if the threads of a GPU's team share the
    loop and have no better one. One iteration makes `copies` vectors, or
    `reduce_copies` of a loop that reduces.
  }];
  let arguments = (ins StrAttr:$axis, I64Attr:$lanes, I64Attr:$copies,
    I64Attr:$reduce_copies, UnitAttr:$unsuited);
  let assemblyFormat = [{
    custom<AxisName>($axis) `lanes` $lanes `copies` $copies
    `reduce_copies` $reduce_copies (`unsuited` $unsuited^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Qn_SplitOp : Qn_SchedulePart<"split", "ScheduleOp"> {
  let summary = "a result of a reduction that tasks share";
  let description = [{
    Dispatches make it before others read it: it lies in the workspace from byte
    `offset` on.
  }];
  let arguments = (ins AnyType:$value, I64Attr:$offset);
  let assemblyFormat = "$value `at` $offset attr-dict `:` type($value)";
}

def Qn_ContractionOp : Qn_ScheduleFrame<"contraction", "ScheduleOp"> {
  let summary = "sums of products over the same rows and columns";
  let description = [{
    Axes of a list are flattened into one, the last of them the fastest. A
    register tile has `height` rows of `vectors` vectors of `lanes` elements. A
    unit has `row_block` rows and `panels` panels of columns at most; `depth`
    summed elements are packed at a time. `pairs`: two summed elements of bf16
    lie in one word; `tiles`: they meet in tile registers. Columns that are
    streamed are read in lines of `line_columns`. Long sums are made in parts of
    `part` steps.
  }];
  let arguments = (ins
    Optional<I64>:$part,
    I64Attr:$number,
    StrArrayAttr:$batch,
    StrArrayAttr:$rows,
    StrArrayAttr:$columns,
    TypeAttr:$element,
    I64Attr:$height,
    I64Attr:$lanes,
    I64Attr:$vectors,
    I64Attr:$row_block,
    I64Attr:$panels,
    I64Attr:$depth,
    UnitAttr:$pairs,
    UnitAttr:$tiles,
    UnitAttr:$by_columns,
    OptionalAttr<I64Attr>:$line_columns);
  let results = (outs Qn_PlanType:$plan);
  let assemblyFormat = [{
    $number `batch` custom<AxisList>($batch) `rows` custom<AxisList>($rows)
    `columns` custom<AxisList>($columns) `of` $element
    `tile` $height `by` $vectors `lanes` $lanes
    `block` $row_block `panels` $panels `depth` $depth
    (`pairs` $pairs^)? (`tiles` $tiles^)? (`by_columns` $by_columns^)?
    (`line_columns` $line_columns^)? (`part` $part^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Qn_ProductOp : Qn_SchedulePart<"product", "ContractionOp"> {
  let summary = "one sum of products of a contraction";
  let description = [{
    `turn_rows` and `turn_columns`: neighbours of the factor lie along the last
    summed axis, so its vectors are transposed in registers. `window`: a
    factor is a window, whose bounds are tested once for all but the first
    summed axes. Its elements are fetched `ahead` steps before they are used.
  }];
  let arguments = (ins AnyType:$sum, AnyType:$rows, AnyType:$columns,
    StrArrayAttr:$sums, UnitAttr:$turn_rows, UnitAttr:$turn_columns,
    UnitAttr:$window, OptionalAttr<I64Attr>:$ahead);
  let assemblyFormat = [{
    $sum `of` $rows `,` $columns `over` custom<AxisList>($sums)
    (`turn_rows` $turn_rows^)? (`turn_columns` $turn_columns^)?
    (`window` $window^)? (`ahead` $ahead^)?
    attr-dict `:` type($sum) `,` type($rows) `,` type($columns)
  }];
  let hasVerifier = 1;
}

def Qn_RowBlocksOp : Qn_ScheduleFrame<"row_blocks", "ScheduleOp"> {
  let summary = "products that are kept for a block of rows";
  let description = [{
    Other reductions of the same dispatch walk over what the contraction
    `scores` gives. `in_place`: columns are read where they lie, none are packed.
  }];
  let arguments = (ins Qn_PlanType:$scores, UnitAttr:$in_place);
  let results = (outs Qn_PlanType:$plan);
  let assemblyFormat = [{
    $scores (`in_place` $in_place^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Qn_KeptOp : Qn_SchedulePart<"kept", "RowBlocksOp"> {
  let summary = "a value over rows and the inner axis, written once for a block";
  let description = [{
    Where `where` is false, zero is written. `replaces`: later uses of the value
    read it back.
  }];
  let arguments = (ins AnyType:$value, Optional<I1>:$where, UnitAttr:$replaces);
  let assemblyFormat = [{
    $value (`where` $where^)? (`replaces` $replaces^)? attr-dict
    `:` type($value)
  }];
}

def Qn_KeptSumsOp : Qn_SchedulePart<"kept_sums", "RowBlocksOp"> {
  let summary = "sums over the inner axis of kept values times columns";
  let description = [{
    `factors` gives for each product of the contraction the number of its kept
    value.
  }];
  let arguments = (ins Qn_PlanType:$sums, DenseI64ArrayAttr:$factors);
  let assemblyFormat = "$sums `factors` $factors attr-dict";
}

def Qn_KeptResultOp : Qn_SchedulePart<"kept_result", "RowBlocksOp"> {
  let summary = "a reduction's result that is written once for a row";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Qn_InnerBoundOp : Qn_SchedulePart<"inner_bound", "RowBlocksOp"> {
  let summary = "a position of the inner axis beyond which nothing is read";
  let description = [{
    Positions before it are not read, or positions after it for `upper`.
    `inclusive`: the position itself is read. It grows from row to row until an
    axis before those of `along` advances.
  }];
  let arguments = (ins I64:$value, UnitAttr:$upper, UnitAttr:$inclusive,
    OptionalAttr<StrArrayAttr>:$along);
  let assemblyFormat = [{
    $value (`upper` $upper^)? (`inclusive` $inclusive^)?
    (`along` custom<AxisList>($along)^)? attr-dict
  }];
}

def Qn_StateRowsOp : Qn_SchedulePart<"state_rows", "ScheduleOp",
    [AttrSizedOperandSegments]> {
  let summary = "reductions that add rows of operands to rows of states";
  let description = [{
    The reductions have the same axes: `before`, around `rows`, which is cut in
    parts of `part_rows`. A unit has `width` columns along `lane`; a pass over
    the states adds `unrolled` rows. From `worthwhile` rows on this pays, and
    there are `most_parts` parts at most. Rows of `flat` operands that follow
    each other in memory are walked as one, about `together` elements at a time.
    `is_row`: the lanes run along a reduced axis. `in_runs`: long sums are
    merged from runs (docs/decisions/0017).
  }];
  let arguments = (ins
    Variadic<AnyType>:$reductions,
    Variadic<Qn_OperandType>:$flat,
    StrArrayAttr:$outer,
    StrArrayAttr:$before,
    StrAttr:$rows,
    StrAttr:$lane,
    I64Attr:$lanes,
    I64Attr:$unrolled,
    I64Attr:$width,
    I64Attr:$part_rows,
    I64Attr:$worthwhile,
    I64Attr:$together,
    OptionalAttr<I64Attr>:$most_parts,
    UnitAttr:$is_row,
    UnitAttr:$in_runs);
  let results = (outs Qn_PlanType:$plan);
  let assemblyFormat = [{
    $reductions `outer` custom<AxisList>($outer)
    `before` custom<AxisList>($before) `rows` custom<AxisName>($rows)
    `by` $part_rows `lane` custom<AxisName>($lane) `lanes` $lanes
    `unrolled` $unrolled `width` $width `worthwhile` $worthwhile
    (`most_parts` $most_parts^)? `together` $together (`flat` $flat^)?
    (`is_row` $is_row^)? (`in_runs` $in_runs^)? attr-dict
    `:` type($reductions) (`flat` type($flat)^)?
  }];
  let hasVerifier = 1;
}

def Qn_DispatchOp : Qn_ScheduleFrame<"dispatch", "ScheduleOp",
    [AttrSizedOperandSegments]> {
  let summary = "one launch: what it makes, and how its axes are cut";
  let description = [{
    `stores`, `scatter`, `compact` and `sort` are numbers among the kernel's
    operations of that kind. Units differ in the positions of the `parallel`
    axes; a task takes units of about `worth` elements. The loops stand
    outermost first.

    `lane` is the axis that suits lanes best. Along `turned` some operands have
    their neighbours instead. `dots`: a tile of rows and columns
    whose lanes run along the sum. `together`: short rows are made side by side.
    Their first reductions read them by `first_rows`: `in_turns`, a vector of
    each row and then the next of each; `masked`, row after row by one masked
    loop; `whole`, row after row by whole vectors and then the rest.
    `again`: loops along the lanes are made again for other reduced axes.
    `windows`: windows that reach over no border run without tests. `streams`
    and `streams_rows`: results that exceed the caches go past them.

    `interleave`: each lane makes a line of a few results; the lines are
    interleaved in registers and stored as whole vectors. `deinterleave`: lines of
    two to four elements along `turned` are read as whole vectors and
    deinterleaved. A dispatch runs if `when` holds, or always without it. On a
    GPU it has entries in place of loops.
  }];
  let arguments = (ins
    Variadic<AnyType>:$reductions,
    Optional<Qn_PlanType>:$contraction,
    Optional<Qn_PlanType>:$blocks,
    Optional<Qn_PlanType>:$columns,
    Optional<I1>:$when,
    Qn_LaunchKind:$kind,
    OptionalAttr<DenseI64ArrayAttr>:$stores,
    OptionalAttr<I64Attr>:$scatter,
    OptionalAttr<I64Attr>:$compact,
    OptionalAttr<I64Attr>:$sort,
    OptionalAttr<I64Attr>:$product,
    OptionalAttr<I64Attr>:$sums,
    StrArrayAttr:$parallel,
    OptionalAttr<StrAttr>:$lane,
    OptionalAttr<StrAttr>:$turned,
    I64Attr:$worth,
    UnitAttr:$dots,
    UnitAttr:$together,
    OptionalAttr<Qn_RowOrder>:$first_rows,
    UnitAttr:$again,
    UnitAttr:$interleave,
    UnitAttr:$deinterleave,
    UnitAttr:$windows,
    UnitAttr:$streams,
    UnitAttr:$streams_rows);
  let assemblyFormat = [{
    $kind (`when` $when^)? (`of` $stores^)? (`reductions` $reductions^ `:`
      type($reductions))?
    (`scatter` $scatter^)? (`compact` $compact^)? (`sort` $sort^)?
    (`contraction` $contraction^)? (`blocks` $blocks^)?
    (`columns` $columns^)? (`product` $product^)? (`sums` $sums^)?
    `parallel` custom<AxisList>($parallel) (`lane` custom<AxisName>($lane)^)?
    (`turned` custom<AxisName>($turned)^)? `worth` $worth
    (`dots` $dots^)? (`together` $together^)?
    (`first_rows` $first_rows^)? (`again` $again^)?
    (`interleave` $interleave^)? (`deinterleave` $deinterleave^)?
    (`windows` $windows^)? (`streams` $streams^)?
    (`streams_rows` $streams_rows^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Qn_MatrixProductOp : Qn_SchedulePart<"matrix_product", "DispatchOp",
    [AttrSizedOperandSegments]> {
  let summary = "the sum of products that entries of a GPU make in tiles";
  let description = [{
    The sum over `depth` of `left`, which has no column, times `right`, which
    has no row. `by_lanes`: each lane multiplies what it reads, as no matrix
    instruction takes factors of this type. A factor that is an operand itself
    is named, with the axis that its neighbouring elements lie along.
  }];
  let arguments = (ins AnyType:$sum, AnyType:$left, AnyType:$right,
    Optional<Qn_OperandType>:$left_operand,
    Optional<Qn_OperandType>:$right_operand,
    StrAttr:$row, StrAttr:$column, StrAttr:$depth, UnitAttr:$by_lanes,
    UnitAttr:$left_along_depth, UnitAttr:$right_along_depth);
  let assemblyFormat = [{
    $sum `of` $left `,` $right `row` custom<AxisName>($row)
    `column` custom<AxisName>($column) `depth` custom<AxisName>($depth)
    (`by_lanes` $by_lanes^)?
    (`left` $left_operand^)? (`left_along_depth` $left_along_depth^)?
    (`right` $right_operand^)? (`right_along_depth` $right_along_depth^)?
    attr-dict `:` type($sum) `,` type($left) `,` type($right)
    (`left` type($left_operand)^)? (`right` type($right_operand)^)?
  }];
  let hasVerifier = 1;
}

def Qn_EntryOp : Qn_ScheduleFrame<"entry", "DispatchOp"> {
  let summary = "one of the ways in which a GPU may run a dispatch";
  let description = [{
    A team of threads has a unit. The entries of a dispatch stand in the order
    of their largest extents, and the extents of a call choose one: the first
    whose lane axis has `most_lanes` elements at most, and which is worth it from
    `least_units` units and `least_side` rows and columns on.

    Blocks have `threads` threads. A thread reads `vectors` elements at a time
    and has `copies` of these under way, and `rows` rows of columns; `full`: that
    takes all registers. At most `resident` blocks share a multiprocessor, and
    `together` of them have room for their rows. A thread keeps `kept` elements
    of a row in registers, and its block `shared_lanes` more in shared memory;
    `shares_rows`: all rows have operands in common. A team has `cluster` blocks.

    `product`: it makes the tile of `qn.matrix_product`; `staged`: through
    shared memory, in lines of `line_bytes`, with `stages` tiles at a time;
    `large`: a multiprocessor holds one such tile. Bands of `band_tiles` tiles
    are made together. `turns`: squares of turned operands go through shared
    memory. `by_columns`: threads have columns and go along the rows.
  }];
  let arguments = (ins
    Qn_TeamKind:$team,
    OptionalAttr<StrAttr>:$lane,
    I64Attr:$threads,
    I64Attr:$vectors,
    I64Attr:$copies,
    OptionalAttr<I64Attr>:$rows,
    OptionalAttr<I64Attr>:$resident,
    OptionalAttr<I64Attr>:$together,
    OptionalAttr<I64Attr>:$kept,
    OptionalAttr<I64Attr>:$shared_lanes,
    OptionalAttr<I64Attr>:$cluster,
    OptionalAttr<I64Attr>:$most_lanes,
    OptionalAttr<I64Attr>:$least_units,
    OptionalAttr<I64Attr>:$least_side,
    OptionalAttr<I64Attr>:$line_bytes,
    OptionalAttr<I64Attr>:$stages,
    OptionalAttr<I64Attr>:$band_tiles,
    UnitAttr:$full,
    UnitAttr:$shares_rows,
    UnitAttr:$product,
    UnitAttr:$staged,
    UnitAttr:$large,
    UnitAttr:$turns,
    UnitAttr:$by_columns);
  let assemblyFormat = [{
    $team (`lane` custom<AxisName>($lane)^)? `threads` $threads
    `vectors` $vectors `copies` $copies (`rows` $rows^)?
    (`resident` $resident^)? (`together` $together^)? (`kept` $kept^)?
    (`shared_lanes` $shared_lanes^)? (`cluster` $cluster^)?
    (`most_lanes` $most_lanes^)? (`least_units` $least_units^)?
    (`least_side` $least_side^)? (`line_bytes` $line_bytes^)?
    (`stages` $stages^)? (`band_tiles` $band_tiles^)? (`full` $full^)?
    (`shares_rows` $shares_rows^)? (`product` $product^)?
    (`staged` $staged^)? (`large` $large^)? (`turns` $turns^)?
    (`by_columns` $by_columns^)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def Qn_ScheduledLoopOp : Qn_SchedulePartOf<"loop", ["DispatchOp", "EntryOp"]> {
  let summary = "how one axis of a dispatch is cut and walked";
  let description = [{
    A unit has `tile` positions along a parallel axis. One iteration of the loop
    makes `copies` vectors of `lanes` elements. The axes of `with` are flattened
    into one with the first; the last of them is the fastest.

    `narrow n below m of [A]`: tiles have `n` positions where the axes of `of`,
    or the axis itself, have fewer than `m` together. `several n from m`: or `n`
    where the axis has `m` positions. `even n step s`: tiles are about equal
    multiples of `s`, and a multiple of `n` of them. `most n`: there are `n`
    tiles at most, larger ones then.

    The elements after the last whole iteration are made one by one or under a
    mask. `rest_copies n`: `n` copies at a time. `repeats`: copies after the end
    make the last position again. `repeats_rest`: they do so only after whole
    iterations. `fixed`: the lanes are part of the result, so there are never
    fewer. `once`: every iteration is masked, if the target has masks. `shared`:
    the threads of a team take turns along it.
  }];
  let arguments = (ins
    StrAttr:$axis,
    OptionalAttr<StrArrayAttr>:$with,
    I64Attr:$tile,
    I64Attr:$lanes,
    I64Attr:$copies,
    OptionalAttr<I64Attr>:$narrow,
    OptionalAttr<I64Attr>:$narrow_below,
    OptionalAttr<StrArrayAttr>:$narrow_by,
    OptionalAttr<I64Attr>:$several,
    OptionalAttr<I64Attr>:$several_from,
    OptionalAttr<I64Attr>:$even_count,
    OptionalAttr<I64Attr>:$even_step,
    OptionalAttr<I64Attr>:$most,
    OptionalAttr<I64Attr>:$rest_copies,
    UnitAttr:$repeats,
    UnitAttr:$repeats_rest,
    UnitAttr:$fixed,
    UnitAttr:$once,
    UnitAttr:$shared);
  let assemblyFormat = [{
    custom<AxisName>($axis) (`with` custom<AxisList>($with)^)?
    `tile` $tile `lanes` $lanes `copies` $copies
    (`narrow` $narrow^)? (`below` $narrow_below^)?
    (`of` custom<AxisList>($narrow_by)^)?
    (`several` $several^)? (`from` $several_from^)?
    (`even` $even_count^)? (`step` $even_step^)? (`most` $most^)?
    (`rest_copies` $rest_copies^)? (`repeats` $repeats^)?
    (`repeats_rest` $repeats_rest^)? (`fixed` $fixed^)? (`once` $once^)?
    (`shared` $shared^)?
    attr-dict
  }];
  let hasVerifier = 1;
}

#endif
