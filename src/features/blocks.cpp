#include "features/blocks.hpp"

namespace covary {

void solve_Luu(const Features& features, ConstMatrix Luu, MatrixOut B, Op op) {
  for (const KuuBlock& b : features.blocks())
    if (!b.white)
      solve_lower(Luu.block(b.first, b.first, b.size, b.size), B.middleRows(b.first, b.size), op);
}

void solve_Luu_right(const Features& features, ConstMatrix Luu, MatrixOut B, Op op) {
  for (const KuuBlock& b : features.blocks())
    if (!b.white)
      solve_lower_right(Luu.block(b.first, b.first, b.size, b.size), B.middleCols(b.first, b.size),
                        op);
}

}  // namespace covary
