// All operations of the qn dialect, group by group.
include "dsl/dialect/KernelOps.td"
include "dsl/dialect/AccessOps.td"
include "dsl/dialect/ReductionOps.td"
include "dsl/dialect/ThreadOps.td"
