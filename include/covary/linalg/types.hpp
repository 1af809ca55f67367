#pragma once

#include <Eigen/Core>

namespace covary {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;  // column-major: Gram blocks and everything M×M
using RowMatrix =                // row-major N×D: data, as in NumPy
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Function arguments. A Ref binds to whole matrices, blocks and mapped memory without a copy.
using ConstVector = const Eigen::Ref<const Vector>&;
using ConstMatrix = const Eigen::Ref<const Matrix>&;
using ConstRows = const Eigen::Ref<const RowMatrix>&;
using VectorOut = Eigen::Ref<Vector>;
using MatrixOut = Eigen::Ref<Matrix>;
using RowsOut = Eigen::Ref<RowMatrix>;

}  // namespace covary
