#include "models/streaming.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "covary/data/columns.hpp"
#include "covary/data/split.hpp"
#include "covary/data/table_blocks.hpp"
#include "covary/error.hpp"
#include "covary/models/memory.hpp"
#include "covary/models/run.hpp"
#include "covary/statistics/sweep.hpp"
#include "models/roles.hpp"
#include "models/target_classes.hpp"
#include "models/temporary_rows.hpp"

namespace covary {
namespace {

enum class Format { npy, text, other };

Format format_of(std::string path) {
  std::transform(path.begin(), path.end(), path.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (path.ends_with(".npy")) return Format::npy;
  for (const char* end : {".npy.gz", ".idx", ".idx.gz", "-ubyte", "-ubyte.gz"})
    if (path.ends_with(end)) return Format::other;
  return Format::text;
}

// Why the rows have to be in memory, or nothing.
std::string obstacle(const std::string& train, const FitOptions& o, const ModelChoice& choice) {
  if (!choice.may_read("stream"))
    return fmt::format("--model {} keeps all rows in memory", choice.text());
  if (o.missing == "learn") return "--missing learn keeps the inputs in memory";
  if (o.lags > 0) return "--lags makes its windows in memory";
  if (!o.exposure.empty()) return "--exposure is read into memory with the rows";
  if (!o.weights.empty()) return "--weights is read into memory with the rows";
  if (!o.folds.empty()) return "--folds trains on parts of the rows, in memory";
  if (!o.noise.empty()) return "--noise is read into memory with the rows";
  if (format_of(train) == Format::other)
    return fmt::format("'{}' is read as a whole; only text (gzip too) and plain NPY come in blocks",
                       train);
  return {};
}

// A table block by block: its columns, and the inputs and outputs of each block, in order. Targets
// that are classes come as their numbers.
struct TrainingBlocks {
  InputColumns inputs;
  std::vector<std::string> output_names;
  std::optional<Likelihood> likelihood = {};
  Labels labels = {};
  CellFormats formats = {};
  std::function<void(const std::function<void(const CellName& cell, ConstRows X, ConstRows Y)>&)>
      each;
};

void name_outputs(TrainingBlocks& blocks, const Table& table, const Roles& r) {
  for (const Index j : r.targets)
    blocks.output_names.push_back(table.names[static_cast<std::size_t>(j)]);
}

// The values of the text columns that are inputs, and the classes of the target. Whether a column
// holds text shows in any block, so that a block read before may have taken it for numbers: the
// text is read once more.
std::map<std::string, std::set<std::string>> text_levels(const std::string& path,
                                                         TableOptions& options, const Roles& r,
                                                         TargetClasses& classes) {
  std::set<std::string> names;
  const Index target = r.targets.front();
  const auto name_of = [](const Table& table, Index j) {
    return table.names[static_cast<std::size_t>(j)];
  };
  TableBlocks first(path, options);
  while (const auto table = first.next()) {
    // A block before may have shown only cells that are plain numbers as well.
    options.formats.insert(table->formats.begin(), table->formats.end());
    for (const Index j : r.inputs)
      if (table->is_text(j)) names.insert(name_of(*table, j));
    classes.add(*table, target);
    if (classes.are_text()) names.insert(name_of(*table, target));
  }
  for (const auto& name : names) options.formats[name] = CellFormat::text;
  std::map<std::string, std::set<std::string>> levels;
  if (names.empty()) return levels;
  TableBlocks second(path, options);
  while (const auto table = second.next()) {
    for (const Index j : r.inputs)
      if (table->is_text(j)) {
        const auto found = one_hot(*table, j).levels;
        levels[name_of(*table, j)].insert(found.begin(), found.end());
      }
    if (classes.are_text()) classes.add(*table, target);
  }
  return levels;
}

TrainingBlocks text_blocks(const std::string& train, const FitOptions& o, const Tell& tell) {
  TableOptions options = table_options(o);
  const Table head = *TableBlocks(train, options).next();
  for (const auto& note : head.notes) tell(note);
  const Roles r = find_roles(head, o, tell);
  TrainingBlocks out;
  TargetClasses classes(o);
  const auto levels = text_levels(train, options, r, classes);
  const auto periods = circular_inputs(head, o, r.inputs);
  for (const Index j : r.inputs) {
    const std::string& name = head.names[static_cast<std::size_t>(j)];
    const auto circle = periods.find(name);
    out.inputs.columns.push_back({name, {}, circle == periods.end() ? 0.0 : circle->second});
    if (const auto at = levels.find(name); at != levels.end()) {
      out.inputs.columns.back().levels.assign(at->second.begin(), at->second.end());
      tell(fmt::format("column '{}' holds text: coded one-hot as {} columns", name,
                       at->second.size()));
    }
  }
  name_outputs(out, head, r);
  out.formats = options.formats;
  out.labels = classes.labels();
  out.likelihood = classes.likelihood(out.output_names, tell);
  out.each = [path = train, options, r, inputs = out.inputs,
              labels = out.labels](const auto& visit) {
    TableBlocks blocks(path, options);
    while (const auto table = blocks.next())
      visit(cell_name(*table, r), inputs.apply(*table),
            labels.classes() > 0 ? RowMatrix(labels.encode(*table, r.targets.front()))
                                 : numeric_columns(*table, r.targets));
  };
  return out;
}

TrainingBlocks npy_blocks(const std::string& train, const FitOptions& o,
                          std::shared_ptr<FileRows>& in_place, const Tell& tell) {
  const Table head =
      numeric_table(RowMatrix::Zero(1, FileRows(train, {}, {}).columns()));  // for the names
  const Roles r = find_roles(head, o, tell);
  in_place = std::make_shared<FileRows>(train, r.inputs, r.targets);
  TrainingBlocks out;
  out.inputs = InputColumns::from(head, r.inputs, nullptr, circular_inputs(head, o, r.inputs));
  name_outputs(out, head, r);
  // All columns are read as outputs, among which a missing value is no error.
  std::vector<Index> columns = r.inputs;
  columns.insert(columns.end(), r.targets.begin(), r.targets.end());
  const auto rows = std::make_shared<FileRows>(train, std::vector<Index>(), std::move(columns));
  const auto D = static_cast<Index>(r.inputs.size());
  const auto each_block = [rows, D](const auto& visit) {
    Sweep(*rows, 4096).for_each_block([&](const DataBlock& block) {
      const Eigen::Map<const RowMatrix> values(block.y, block.x.n, block.outputs);
      const auto row = [first = block.x.first](Index i) {
        return fmt::format("row {} has a missing value", first + i);
      };
      visit(row, values.leftCols(D), values.rightCols(block.outputs - D));
    });
  };
  TargetClasses classes(o);
  if (classes.are_there())
    each_block([&](const CellName&, ConstRows, ConstRows Y) { classes.add(Vector(Y.col(0))); });
  out.labels = classes.labels();
  out.likelihood = classes.likelihood(out.output_names, tell);
  if (!classes.are_there()) {
    out.each = each_block;
    return out;
  }
  in_place = nullptr;
  out.each = [each_block, labels = out.labels](const auto& visit) {
    each_block([&](const CellName& cell, ConstRows X, ConstRows Y) {
      visit(cell, X, RowMatrix(labels.encode(Vector(Y.col(0)))));
    });
  };
  return out;
}

// One pass over the rows that --missing keeps.
struct Pass {
  Index all = 0, kept = 0;
  Vector low, high;  // of the inputs and outputs kept
};

Pass pass_over(const TrainingBlocks& blocks, const std::string& policy,
               const std::function<void(const RowMatrix&)>& body) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Pass out;
  blocks.each([&](const CellName& cell, ConstRows X, ConstRows Y) {
    const auto keep = kept_rows(X, Y, policy, cell);
    RowMatrix rows(static_cast<Index>(keep.size()), X.cols() + Y.cols());
    rows.leftCols(X.cols()) = take_rows(X, keep);
    rows.rightCols(Y.cols()) = take_rows(Y, keep);
    out.all += X.rows();
    out.kept += rows.rows();
    if (out.low.size() == 0) {
      out.low = Vector::Constant(rows.cols(), inf);
      out.high = Vector::Constant(rows.cols(), -inf);
    }
    for (Index i = 0; i < rows.rows(); ++i)
      for (Index j = 0; j < rows.cols(); ++j)
        if (const double v = rows(i, j); !std::isnan(v)) {
          out.low(j) = std::min(out.low(j), v);
          out.high(j) = std::max(out.high(j), v);
        }
    body(rows);
  });
  if (out.kept == 0) throw InputError("every row has missing values; nothing is left to train on");
  return out;
}

std::vector<Index> numbers(Index from, Index to) {
  std::vector<Index> out(static_cast<std::size_t>(to - from));
  std::iota(out.begin(), out.end(), from);
  return out;
}

}  // namespace

bool streams(const std::string& train, const FitOptions& o, const ModelChoice& choice,
             const Tell& tell) {
  const std::string why_not = obstacle(train, o, choice);
  if (o.stream) {
    if (!why_not.empty())
      throw InputError(fmt::format("--stream cannot be used here: {}", why_not));
    return true;
  }
  std::error_code error;
  const auto size = static_cast<double>(std::filesystem::file_size(train, error));
  if (error || !why_not.empty()) return false;
  // The bytes as read and the table are in memory at once; text compresses to about a quarter.
  const double table = (train.ends_with(".gz") ? 4.0 : 1.0) * 2.0 * size,
               there = available_memory();
  if (table <= 0.5 * there) return false;
  tell(
      fmt::format("reading {} would take about {} of {} available memory: streaming its "
                  "rows, as with --stream",
                  train, memory::in_gigabytes(table), memory::in_gigabytes(there)));
  return true;
}

ModelData stream_training(const std::string& train, const FitOptions& o, const Tell& tell) {
  std::shared_ptr<FileRows> in_place;
  const TrainingBlocks blocks = format_of(train) == Format::npy
                                    ? npy_blocks(train, o, in_place, tell)
                                    : text_blocks(train, o, tell);
  ModelData d;
  d.inputs = blocks.inputs;
  d.output_names = blocks.output_names;
  d.likelihood = blocks.likelihood;
  d.labels = blocks.labels;
  d.formats = blocks.formats;
  const auto D = static_cast<Index>(d.inputs.names().size()),
             P = static_cast<Index>(d.output_names.size());
  Pass pass;
  if (in_place) {
    pass = pass_over(blocks, o.missing, [](const RowMatrix&) {});
    if (pass.kept == pass.all) d.file = in_place;
  }
  if (!d.file) {
    TemporaryRows rows(D + P);
    pass = pass_over(blocks, o.missing, [&](const RowMatrix& block) { rows.add(block); });
    const std::string name =
        fmt::format("the rows of {} in a temporary file in {}", train, rows.folder());
    d.file = std::make_shared<FileRows>(rows.finish(), name, numbers(0, D), numbers(D, D + P));
  }
  tell_left_out(pass.kept, pass.all, o.missing, tell);
  for (Index p = 0; p < P; ++p)
    if (pass.low(D + p) > pass.high(D + p))
      throw InputError(fmt::format("column '{}' has no values; fill it in or leave it out",
                                   d.output_names[static_cast<std::size_t>(p)]));
  d.file_inputs = suggest_mode(pass.low.head(D), pass.high.head(D));
  d.file_outputs = suggest_mode(pass.low.tail(P), pass.high.tail(P));
  tell(fmt::format("streaming {} rows from {} ({})", d.file->rows(), d.file->name(),
                   memory::in_gigabytes(d.file->bytes())));
  return d;
}

}  // namespace covary
