#include "parameters.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "covary/error.hpp"

namespace covary::python {
namespace {

using namespace nb::literals;

// path, value, transform (kind, low, high), rows, cols, prior, trainable, tied_to, ratio
using State = std::tuple<std::string, std::vector<double>, int, double, double, Index, Index,
                         std::optional<std::string>, bool, std::string, double>;

std::vector<State> get_state(const Parameters& parameters) {
  std::vector<State> out;
  for (const Parameter& p : parameters.all())
    out.emplace_back(p.path, std::vector<double>(p.value.begin(), p.value.end()),
                     static_cast<int>(p.transform.kind()), p.transform.low(), p.transform.high(),
                     p.rows, p.cols, p.prior ? std::optional(p.prior->describe()) : std::nullopt,
                     p.trainable, p.tied_to, p.ratio);
  return out;
}

Transform make_transform(int kind, double low, double high) {
  switch (static_cast<Transform::Kind>(kind)) {
    case Transform::Kind::real:
      return Transform::real();
    case Transform::Kind::positive:
      return Transform::positive(high, low);
    case Transform::Kind::bounded:
      return Transform::bounded(low, high);
    case Transform::Kind::lower_triangular:
      return Transform::lower_triangular();
    case Transform::Kind::ordered:
      return Transform::ordered();
  }
  throw InputError(fmt::format("unknown transform of kind {}", kind));
}

Parameters from_state(const std::vector<State>& state) {
  Parameters out;
  for (const auto& [path, value, kind, low, high, rows, cols, prior, trainable, tied_to, ratio] :
       state) {
    Parameter p{path, Eigen::Map<const Vector>(value.data(), static_cast<Index>(value.size())),
                make_transform(kind, low, high)};
    p.rows = rows;
    p.cols = cols;
    if (prior) p.prior = Prior::parse(*prior);
    p.trainable = trainable;
    p.tied_to = tied_to;
    p.ratio = ratio;
    out.add(std::move(p));
  }
  return out;
}

std::vector<std::string> paths(const Parameters& parameters) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters.all()) out.push_back(p.path);
  return out;
}

// The parameters below a path, as attributes: parameters.kernel[0].lengthscales
struct Group {
  nb::object owner;  // keeps the parameters alive
  Parameters* parameters;
  std::string path;
};

nb::object child(const Group& group, const std::string& name) {
  const std::string path = group.path.empty() ? name : group.path + "." + name;
  for (const Parameter& p : group.parameters->all()) {
    if (p.path == path) return to_python(p, p.value);
    if (p.path.starts_with(path + ".")) return nb::cast(Group{group.owner, group.parameters, path});
  }
  throw nb::attribute_error(fmt::format("no parameter '{}'; there are: {}", path,
                                        fmt::join(paths(*group.parameters), ", "))
                                .c_str());
}

std::vector<std::string> children(const Group& group) {
  std::vector<std::string> out;
  const std::string start = group.path.empty() ? "" : group.path + ".";
  for (const Parameter& p : group.parameters->all()) {
    if (!p.path.starts_with(start)) continue;
    const std::string name =
        p.path.substr(start.size(), p.path.find('.', start.size()) - start.size());
    if (out.empty() || out.back() != name) out.push_back(name);
  }
  return out;
}

Group root(nb::handle self) { return {nb::borrow(self), nb::inst_ptr<Parameters>(self), ""}; }

void set(Parameters& p, const std::string& path, nb::handle value) {
  const Vector v = to_vector(value, path.c_str());
  if (v.size() == 0) throw InputError(fmt::format("no value was given for {}", path));
  p.set(path, v);
}

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

std::string numbers(ConstVector v) {
  if (v.size() > 40) return fmt::format("{:.3g} … {:.3g}", v.minCoeff(), v.maxCoeff());
  return fmt::format("{:.6g}", fmt::join(v.begin(), v.end(), ", "));
}

}  // namespace

nb::object to_python(const Parameter& p, ConstVector values) {
  if (values.size() == 1) return nb::float_(values(0));
  if (p.rows > 1 && p.cols > 1 && p.rows * p.cols == values.size())
    return nb::cast(
        to_numpy(RowMatrix(Eigen::Map<const RowMatrix>(values.data(), p.rows, p.cols))));
  return nb::cast(to_numpy(Vector(values)));
}

std::string html_table(const Parameters& parameters, const Vector* standard_errors) {
  std::string out =
      "<table><thead><tr><th>name</th><th>value</th><th>s.e.</th><th>transform</th><th>prior</th>"
      "<th>trained</th><th>tie</th></tr></thead><tbody>";
  Index free = 0;
  for (const Parameter& p : parameters.all()) {
    std::string error;
    if (p.trainable && p.tied_to.empty()) {
      if (standard_errors && standard_errors->size())
        error = numbers(standard_errors->segment(free, p.value.size()));
      free += p.value.size();
    }
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        escape(p.path), numbers(p.value), error, escape(p.transform.describe()),
        p.prior ? escape(p.prior->describe()) : "", p.trainable ? "yes" : "no",
        p.tied_to.empty() ? "" : fmt::format("{:g}·{}", p.ratio, escape(p.tied_to)));
  }
  return out + "</tbody></table>";
}

void bind_parameters(nb::module_& m) {
  nb::class_<Group>(m, "ParameterGroup", "The parameters below a path, as attributes.")
      .def("__getattr__", child, "name"_a)
      .def("__getitem__", [](const Group& g, Index i) { return child(g, std::to_string(i)); })
      .def("__setattr__", [](Group& g, const std::string& name,
                             nb::handle value) { set(*g.parameters, g.path + "." + name, value); })
      .def("__dir__", children)
      .def("__repr__", [](const Group& g) {
        return fmt::format("{}: {}", g.path, fmt::join(children(g), ", "));
      });

  nb::class_<Parameters>(m, "Parameters", R"doc(Named values with transform, prior, bounds and ties.

Values are reached by their path, or as attributes. A path that names a group means all below it.
They are in the units the model sees, which are scaled unless ``scale="none"``.

>>> import covary as cv
>>> p = cv.Kernel("se + periodic").parameters()
>>> p["kernel.0.lengthscales"] = 0.5
>>> p.kernel[0].lengthscales
0.5
>>> p.fix("kernel.1")
>>> p.set_prior("kernel.0.variance", "gamma(2,1)")
>>> p.set_bounds("kernel.0.lengthscales", 0.1, 10)
>>> len(p)
5
)doc")
      .def(
          "__getitem__",
          [](const Parameters& p, const std::string& path) {
            return to_python(p.at(path), p.at(path).value);
          },
          "path"_a)
      .def("__setitem__", set, "path"_a, "value"_a,
           nb::sig("def __setitem__(self, path: str, value: numpy.typing.ArrayLike) -> None"))
      .def("__contains__", &Parameters::contains, "path"_a)
      .def("__len__", [](const Parameters& p) { return p.all().size(); })
      .def("__iter__", [](const Parameters& p) { return nb::iter(nb::cast(paths(p))); })
      .def(
          "__getattr__",
          [](nb::handle self, const std::string& name) { return child(root(self), name); },
          "name"_a)
      .def("keys", paths, "The paths, in order.")
      .def(
          "items",
          [](const Parameters& p) {
            nb::list out;
            for (const Parameter& q : p.all())
              out.append(nb::make_tuple(q.path, to_python(q, q.value)));
            return out;
          },
          "Pairs of path and value, in order.")
      .def("fix", &Parameters::fix, "path"_a, "Do not train it, or anything below it.")
      .def("unfix", &Parameters::unfix, "path"_a, "Train it again.")
      .def(
          "is_trained",
          [](const Parameters& p, const std::string& path) {
            return p.at(path).trainable && p.at(path).tied_to.empty();
          },
          "path"_a, "Neither fixed nor tied.")
      .def(
          "set_prior",
          [](Parameters& p, const std::string& path, const std::string& prior) {
            p.set_prior(path, Prior::parse(prior));
          },
          "path"_a, "prior"_a,
          "A density of the value: 'normal(0,1)', 'lognormal(0,1)', 'gamma(2,1)', "
          "'inversegamma(2,1)' or 'halfcauchy(1)'.")
      .def("set_bounds", &Parameters::set_bounds, "path"_a, "low"_a, "high"_a,
           "Train between low and high; a value outside moves inside.")
      .def("tie", &Parameters::tie, "path"_a, "target"_a, "ratio"_a = 1.0,
           "From now on path = ratio * target.")
      .def("untie", &Parameters::untie, "path"_a)
      .def(
          "table", [](const Parameters& p) { return p.table(); },
          "Name, value, transform, prior, trainable, tie and shape as text.")
      .def("__str__", [](const Parameters& p) { return p.table(); })
      .def("__repr__", [](const Parameters& p) { return p.table(); })
      .def("_repr_html_", [](const Parameters& p) { return html_table(p); })
      .def("__copy__", [](const Parameters& p) { return p; })
      .def(
          "__deepcopy__", [](const Parameters& p, nb::handle) { return p; }, "memo"_a)
      .def("__getstate__", get_state)
      .def("__setstate__", [](Parameters& p, const std::vector<State>& state) {
        new (&p) Parameters(from_state(state));
      });
}

}  // namespace covary::python
