#include "covary/models/run.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "covary/error.hpp"
#include "covary/models/forecast.hpp"
#include "covary/models/model_choice.hpp"
#include "models/streaming.hpp"

namespace covary {
namespace {

// A mistake shows before the data are read.
void check_call(const FitOptions& o, const ModelChoice& choice) {
  if (!names_columns(o.kernel)) static_cast<void>(Kernel(o.kernel));
  choice.check();
  check_pairs(o);
  check_likelihood(o.likelihood);
  if (o.resume && o.checkpoint.empty())
    throw InputError("--resume needs the checkpoint; name it with --checkpoint FILE");
  if (o.without_outputs && o.out.empty())
    throw InputError("--without-outputs needs a model file; name it with --out FILE");
  if (!o.out.empty() && o.out == o.checkpoint)
    throw InputError("--out and --checkpoint name the same file; give them different ones");
  check_folder(o.out);  // before the work, not after it
  check_folder(o.checkpoint);
  if (choice.has_inputs() && o.target.empty())
    throw Error("usage", "--target is required; it names the output column");
}

ModelData read(const std::string& path, const FitOptions& o, const ModelChoice& choice,
               const Tell& tell) {
  if (choice.has_inputs() && streams(path, o, choice, tell)) return stream_training(path, o, tell);
  const Table table = read_table(path, table_options(o));
  for (const auto& note : table.notes) tell(note);
  return read_for(choice, table, o, tell);
}

ModelData read(const Table& table, const FitOptions& o, const ModelChoice& choice,
               const Tell& tell) {
  if (o.stream) throw InputError("--stream is for the rows of a file; these are in memory");
  if (o.is_given("header"))
    throw InputError("--header is for a file; the columns of a table in memory have their names");
  return read_for(choice, table, o, tell);
}

}  // namespace

Header parse_header(const std::string& text) {
  if (text == "yes") return Header::yes;
  return text == "no" ? Header::no : Header::detect;
}

void check_folder(const std::string& path) {
  if (path.empty()) return;
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw FileError(fmt::format("cannot write '{}': there is no folder '{}'; make it first", path,
                                folder.string()));
}

FitRun::FitRun(const TrainingRows& rows, FitOptions options, Tell tell) {
  const ModelChoice choice(options);
  check_call(options, choice);
  ModelData data =
      std::visit([&](const auto& from) { return read(from, options, choice, tell); }, rows);
  request_ = prepare(choice, std::move(options), std::move(data), std::move(tell));
  const FitOptions& o = request_.options;
  if (!o.folds.empty()) folds_ = make_folds(o, request_.data);
  cost_ = forecast(*request_.entry, problem_size(request_.data, o), o, request_.tell);
  if (!o.from.empty()) request_.from = load(o.from);
}

Fit FitRun::train(FitSession& session) {
  request_.session = &session;
  const Fit fit = request_.entry->make(request_);
  request_.session = nullptr;
  const FitOptions& o = request_.options;
  if (!o.out.empty()) (o.without_outputs ? fit->stripped() : fit).save(o.out);
  return fit;
}

std::optional<FoldScores> FitRun::cross_validate() const {
  if (folds_.empty()) return std::nullopt;
  return covary::cross_validate(request_, folds_);
}

}  // namespace covary
