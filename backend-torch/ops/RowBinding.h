// What an `@aten` attribute makes of a node: an argument for each parameter,
// element types, and the dimensions the call works along.
#pragma once

#include "backend-torch/ops/Operation.h"

#include <set>

namespace quern {

struct RowArgument {
  const ParameterInfo *parameter = nullptr;
  const GraphArgument *value = nullptr; ///< null: not given
  std::string source;                   ///< the ATen argument's name
};

/// Why a row's results are not the node's: it gives more, or fewer while the
/// others are read.
std::optional<std::string>
whyNotAllResults(const Graph &graph, const Node &node, const OperatorRow &row);

/// Made for one node and one row; everything is read after `run`.
class RowBinding {
public:
  RowBinding(const Graph &graph, const Node &node, const OperatorRow &row)
      : graph(graph), node(node), row(row) {}

  /// The reason why the row does not fit, or nothing.
  std::optional<std::string> run();

  /// Run-time parameters in order.
  const std::vector<RowArgument> &parameters() const { return bound; }
  /// Compile-time parameters that are no types and were given something.
  const std::vector<RowArgument> &constants() const { return constant; }
  /// The type that `T`, `acc(T)` or `f32` stands for.
  std::optional<DType> typeNamed(std::string_view element) const;
  /// Type parameters that no operand decides.
  const std::vector<std::pair<std::string, DType>> &typeArguments() const {
    return undecided;
  }
  /// The axis that an ATen `dim` selects, without `*`; empty without one.
  std::string axis;
  bool axisIsPack = false;
  std::vector<int> selected; ///< dimensions of the first tensor, in order

  /// Of `(i, j) = indices`: which dimensions of what is indexed they are, and
  /// where their own stand in what is read. Empty without such a list.
  std::vector<int> indexed;
  int indexRank = 0, place = 0;

private:
  using Reason = std::optional<std::string>;

  Reason readBindings();
  Reason readBinding(const std::string &left, const std::string &text);
  Reason takeApart(std::string_view names, std::string_view text);
  Reason takeIndices(const std::vector<std::string_view> &names,
                     const NamedArgument &source);
  void readPromotion(std::string_view text);
  const NamedArgument *sourceOf(std::string_view text) const;
  Reason whyEmpty() const;
  Reason whyNoNumber() const;
  Reason bindParameters();
  void bindByName();
  void bindByPosition();
  Reason solveTypes();
  std::optional<DType> typeOfResult(const std::string &name) const;
  std::optional<DType> solveType(const std::string &name);
  bool hasNumbersAlong(const std::string &pack) const;
  Reason selectAxes(const NamedArgument &dims, const std::string &axis);
  const TensorFacts *firstTensor() const;
  const ParameterInfo *parameterNamed(std::string_view name) const;
  bool isAxis(std::string_view name) const;

  const Graph &graph;
  const Node &node;
  const OperatorRow &row;
  std::string promotion;          ///< as the row says, if it does
  std::string needed;             ///< the axis without which there is no result
  std::set<std::string> promoted; ///< arguments that promote; empty: all
  std::set<std::string> used;
  std::map<std::string, RowArgument> chosen; ///< by parameter
  std::map<std::string, const GraphArgument *> dtypes;
  std::vector<RowArgument> bound, constant;
  std::map<std::string, DType> types;
  std::vector<std::pair<std::string, DType>> undecided;
};

} // namespace quern
