#include "covary/models/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "covary/error.hpp"

namespace covary {
namespace {

TEST(ModelTable, EveryModelIsFoundByItsNames) {
  for (const ModelEntry& e : model_table()) {
    for (const std::string& name : {e.name == "pep" ? "pep(0.5)" : e.name, e.aliases}) {
      if (name.empty()) continue;
      const NamedModel named = parse_model(name);
      EXPECT_TRUE(std::count(named.entries.begin(), named.entries.end(), &e)) << name;
    }
    for (const std::string* words : {&e.sentence, &e.use, &e.time, &e.memory, &e.page})
      EXPECT_FALSE(words->empty()) << e.label();
  }
  EXPECT_EQ(*parse_model("pep(0.25)").power, 0.25);
  EXPECT_EQ(parse_model("ep(0.5)").entries.front()->name, "ep");
  EXPECT_FALSE(parse_model("laplace").power);
}

TEST(ModelTable, LabelsAndOptionsAreEachNamedOnce) {
  std::set<std::string> labels;
  for (const ModelEntry& e : model_table()) {
    EXPECT_TRUE(labels.insert(e.label()).second) << e.label();
    std::set<std::string> options;
    std::istringstream words(e.fit);
    for (std::string word; words >> word;)
      EXPECT_TRUE(options.insert(word).second) << e.label() << " --" << word;
    EXPECT_TRUE(e.reads("fit", "target"));
    EXPECT_FALSE(e.reads("fit", "targe"));
    EXPECT_FALSE(e.reads("nothing", "target"));
  }
}

TEST(ModelTable, WrongNamesAreAnsweredWithTheNearest) {
  const auto told = [](const char* name) -> std::string {
    try {
      parse_model(name);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(told("map_gplm").find("did you mean 'map_gplvm'"), std::string::npos);
  EXPECT_NE(told("laplac").find("did you mean 'laplace'"), std::string::npos);
  for (const char* name : {"pep", "pep()", "pep(1.5)", "ep(0)", "ep(x)", "vfe(loose)", ""})
    EXPECT_NE(told(name), "") << name;
}

TEST(ModelTable, AutoGoesByRowsLikelihoodAndOptions) {
  const auto chosen = [](AutoChoice data, const std::vector<std::string>& options) {
    return choose_model(data, options, false).name;
  };
  EXPECT_EQ(chosen({.rows = 2000}, {}), "exact");
  EXPECT_EQ(chosen({.rows = 2001}, {}), "vfe");
  EXPECT_EQ(chosen({.rows = 10}, {"inducing"}), "vfe");
  EXPECT_EQ(chosen({.rows = 10}, {"kernel", "seed"}), "exact");
  EXPECT_EQ(chosen({.rows = 10, .in_memory = false}, {}), "vfe");
  EXPECT_EQ(choose_model({.rows = 10}, {"features"}, true).name, "sor");
  EXPECT_EQ(chosen({.gaussian = false, .rows = 2000}, {}), "laplace");
  EXPECT_EQ(chosen({.gaussian = false, .rows = 2000, .functions = 3}, {}), "svgp");
  EXPECT_EQ(chosen({.gaussian = false, .rows = 10}, {"batch"}), "svgp");
  EXPECT_EQ(chosen({.gaussian = false, .laplace = false, .rows = 10}, {}), "svgp");
}

TEST(ModelTable, ReadersAreNamed) {
  EXPECT_EQ(readers_of("fit", "standard-errors"), "exact");
  EXPECT_EQ(readers_of("fit", "groups"), "pitc");
  EXPECT_EQ(readers_of("fit", "nothing"), "no model");
  EXPECT_EQ(readers_of("fit", "discriminative"), "map_gplvm");
  const std::string readers = readers_of("sample", "posterior");
  EXPECT_TRUE(readers.starts_with("laplace, ") && readers.ends_with(", gplvm or mrd")) << readers;
}

TEST(ModelTable, CostsGrowWithTheRows) {
  for (const ModelEntry& e : model_table()) {
    ProblemSize small;
    small.rows = 3000.0;
    small.inputs = small.outputs = 5.0;
    small.inducing = 50.0;
    small.batch = e.form == Form::minibatches ? 100.0 : 0.0;
    ProblemSize large = small;
    large.rows = 30000.0;
    const Cost a = e.cost(small), b = e.cost(large);
    EXPECT_GT(a.bytes, 0.0) << e.label();
    EXPECT_GE(b.bytes, a.bytes) << e.label();
    EXPECT_GT(a.flops, 0.0) << e.label();
    const bool batches = e.form == Form::minibatches || e.name == "svgp";
    EXPECT_GE(b.flops, batches ? 0.0 : 9.9 * a.flops) << e.label();
  }
}

TEST(ModelTable, CostsKnowTheUsualStarts) {
  const auto starts = [](const std::string& label, double rows) {
    for (const ModelEntry& e : model_table())
      if (e.label() == label) return e.cost({.rows = rows, .inputs = 2.0}).starts;
    ADD_FAILURE() << label;
    return 0.0;
  };
  EXPECT_EQ(starts("exact", 1000), 3.0);
  EXPECT_EQ(starts("exact", 1001), 1.0);
  EXPECT_EQ(starts("laplace", 300), 3.0);
  EXPECT_EQ(starts("vgp", 301), 1.0);
  EXPECT_EQ(starts("gplvm", 500), 4.0);
  EXPECT_EQ(starts("mrd", 2000), 2.0);
  EXPECT_EQ(starts("gplvm", 2001), 1.0);
  EXPECT_EQ(starts("class_density", 1200), 2.0);
  EXPECT_EQ(starts("noisy_inputs", 400), 2.0);
  for (const char* one : {"vfe", "vfe with --missing learn", "warped", "svgp", "map_gplvm",
                          "gplvm by minibatches", "fitc (non-Gaussian)"})
    EXPECT_EQ(starts(one, 100), 1.0) << one;
}

}  // namespace
}  // namespace covary
