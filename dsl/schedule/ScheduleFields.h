// The fields of a schedule's parts, once for writing and for reading them.
#pragma once

#include "dsl/schedule/EntryPlan.h"

#include <concepts>

namespace quern {

/// A plan that is written, or read.
template <typename Plan, typename Of>
concept PlanOf = std::same_as<std::remove_const_t<Plan>, Of>;

/// Shows `fields` every field of a plan, by the name that its attribute has.
/// Numbers that are `absent` are left out of the text.
template <typename Fields, PlanOf<AxisPlan> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.axis("axis", plan.axis);
  fields.optionalAxes("with", plan.with);
  fields.number("tile", plan.tile);
  fields.number("lanes", plan.lanes);
  fields.number("copies", plan.copies);
  fields.number("narrow", plan.narrow, 0);
  fields.number("narrow_below", plan.narrowBelow, 0);
  fields.optionalAxes("narrow_by", plan.narrowBy);
  fields.number("several", plan.several, 0);
  fields.number("several_from", plan.severalFrom, 0);
  fields.number("even_count", plan.evenCount, 0);
  fields.number("even_step", plan.evenStep, plan.evenCount ? 0 : 1);
  fields.number("most", plan.most, 0);
  fields.number("rest_copies", plan.copiesOfRest, 0);
  fields.flag("repeats", plan.repeats);
  fields.flag("repeats_rest", plan.repeatsRest);
  fields.flag("fixed", plan.fixed);
  fields.flag("once", plan.once);
  fields.flag("shared", plan.shared);
}

template <typename Fields, PlanOf<MatrixProduct> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.axis("row", plan.row);
  fields.axis("column", plan.column);
  fields.axis("depth", plan.depth);
  fields.flag("by_lanes", plan.byLanes);
  fields.flag("left_along_depth", plan.leftSide.alongDepth);
  fields.flag("right_along_depth", plan.rightSide.alongDepth);
}

template <typename Fields, PlanOf<EntryPlan> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.choice("team", plan.team);
  fields.optionalAxis("lane", plan.launch.lane);
  fields.number("threads", plan.threads);
  fields.number("vectors", plan.vectors);
  fields.number("copies", plan.copies);
  fields.number("rows", plan.rows, 1);
  fields.number("resident", plan.resident, 0);
  fields.number("together", plan.together, 1);
  fields.number("kept", plan.kept, 0);
  fields.number("shared_lanes", plan.sharedLanes, 0);
  fields.number("cluster", plan.cluster, 1);
  fields.number("most_lanes", plan.mostLanes, -1);
  fields.number("least_units", plan.leastUnits, 0);
  fields.number("least_side", plan.leastSide, 0);
  fields.number("line_bytes", plan.lineBytes, 64);
  fields.number("stages", plan.stages, 3);
  fields.number("band_tiles", plan.bandTiles, 1);
  fields.flag("full", plan.isFull);
  fields.flag("shares_rows", plan.sharesRows);
  fields.flag("staged", plan.staged);
  fields.flag("large", plan.isLarge);
  fields.flag("turns", plan.turns);
  fields.flag("by_columns", plan.byColumns);
}

template <typename Fields, PlanOf<InnerLoop> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.axis("axis", plan.axis);
  fields.number("lanes", plan.lanes);
  fields.number("copies", plan.copies);
  fields.number("reduce_copies", plan.reduceCopies);
  fields.flag("unsuited", plan.unsuited);
}

template <typename Fields, PlanOf<Product> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.axes("sums", plan.sums);
  fields.flag("turn_rows", plan.turnRows);
  fields.flag("turn_columns", plan.turnColumns);
  fields.flag("window", plan.window);
  fields.number("ahead", plan.ahead, 0);
}

template <typename Fields, PlanOf<Tiling> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.number("number", plan.number);
  fields.axes("batch", plan.batch);
  fields.axes("rows", plan.rows);
  fields.axes("columns", plan.columns);
  fields.type("element", plan.element);
  fields.number("height", plan.height);
  fields.number("lanes", plan.lanes);
  fields.number("vectors", plan.vectors);
  fields.number("row_block", plan.rowBlock);
  fields.number("panels", plan.panels);
  fields.number("depth", plan.depth);
  fields.flag("pairs", plan.pairs);
  fields.flag("tiles", plan.tiles);
  fields.flag("by_columns", plan.byColumns);
  fields.number("line_columns", plan.lineColumns, 0);
}

template <typename Fields, PlanOf<Columns> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.axes("outer", plan.outer);
  fields.axes("before", plan.before);
  fields.axis("rows", plan.rows);
  fields.axis("lane", plan.lane);
  fields.number("lanes", plan.lanes);
  fields.number("unrolled", plan.unrolled);
  fields.number("width", plan.width);
  fields.number("part_rows", plan.partRows);
  fields.number("worthwhile", plan.worthwhile);
  fields.number("together", plan.together);
  fields.number("most_parts", plan.mostParts, 0);
  fields.flag("is_row", plan.isRow);
  fields.flag("in_runs", plan.inRuns);
}

template <typename Fields, PlanOf<InnerBound> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.flag("inclusive", plan.inclusive);
  fields.optionalAxes("along", plan.along);
}

template <typename Fields, PlanOf<LaunchPlan> Plan>
void eachField(Fields &fields, Plan &plan) {
  fields.choice("kind", plan.kind);
  fields.number("product", plan.product, 0);
  fields.number("sums", plan.sums, 0);
  fields.set("parallel", plan.parallel);
  fields.optionalAxis("lane", plan.lane);
  fields.optionalAxis("turned", plan.turned);
  fields.number("worth", plan.taskElements);
  fields.flag("dots", plan.dots);
  fields.flag("together", plan.together);
  fields.choice("first_rows", plan.firstRows);
  fields.flag("again", plan.again);
  fields.flag("interleave", plan.interleaves);
  fields.flag("deinterleave", plan.deinterleaves);
  fields.flag("windows", plan.windows);
  fields.flag("streams", plan.streams);
  fields.flag("streams_rows", plan.streamsRows);
}

} // namespace quern
