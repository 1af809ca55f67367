#include "covary/data/inputs.hpp"

#include <cmath>

#include "covary/data/csv.hpp"
#include "covary/error.hpp"
#include "data/scratch.hpp"

namespace covary {
namespace {

Table csv(const std::string& text, const TableOptions& options = {}) {
  return parse_csv(text, "t.csv", options);
}

TEST(InputColumns, AreFoundByNameInAnyOrder) {
  const InputColumns inputs = InputColumns::named({"a", "b"});
  EXPECT_EQ(inputs.apply(csv("b,more,a\n1,9,2\n")), (RowMatrix{{2, 1}}));
  EXPECT_EQ(inputs.apply(csv("1,2\n")), (RowMatrix{{1, 2}}));  // no names, as many columns
}

TEST(InputColumns, OtherNamesAreRefusedThoughTheyAreAsMany) {
  const InputColumns inputs = InputColumns::named({"a", "b", "c"});
  const std::string message = message_of<InputError>([&] { inputs.apply(csv("c,a,q\n1,2,3\n")); });
  EXPECT_NE(message.find("lacks the model's input 'b'; its columns are c, a, q"), std::string::npos)
      << message;
  EXPECT_THROW(inputs.apply(csv("1,2,3,4\n")), InputError);
  EXPECT_THROW(inputs.apply(csv("a,b,b,c\n1,2,3,4\n")), InputError);
}

TEST(InputColumns, OfATrainingTableWithoutNamesAreTakenInOrder) {
  const InputColumns inputs = InputColumns::named({"c0", "c2"});
  EXPECT_EQ(inputs.apply(csv("u,v\n1,2\n")), (RowMatrix{{1, 2}}));
  EXPECT_EQ(inputs.apply(csv("1,2\n")), (RowMatrix{{1, 2}}));
  EXPECT_EQ(inputs.apply(csv("1,2,3\n")), (RowMatrix{{1, 3}}));
}

TEST(InputColumns, CircularColumnsComeRound) {
  const Table t = csv("hour,k\n0,1\n24,1\n6,1\n,1\n");
  const InputColumns inputs = InputColumns::from(t, {0, 1}, nullptr, {{"hour", 24.0}});
  EXPECT_EQ(inputs.names(), (std::vector<std::string>{"cos(hour)", "sin(hour)", "k"}));
  const RowMatrix X = inputs.apply(t);
  EXPECT_NEAR((X.row(0) - X.row(1)).norm(), 0.0, 1e-15);
  EXPECT_NEAR((X.row(2) - RowMatrix{{0, 1, 1}}).norm(), 0.0, 1e-15);
  EXPECT_TRUE(std::isnan(X(3, 0)) && std::isnan(X(3, 1)));
}

TEST(InputColumns, KnowTheRowsWithoutMissingInputs) {
  const Table t = csv("a,k,y\n1,u,1\n,v,2\n3,,3\n4,w,\n");
  EXPECT_EQ(InputColumns::from(t, {0, 1}).complete_rows(t), (std::vector<Index>{0, 3}));
}

}  // namespace
}  // namespace covary
