#include "covary/report/latent_explorer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "covary/data/labels.hpp"
#include "covary/error.hpp"
#include "covary/inference/uncertain_inputs.hpp"
#include "covary/kernels/gaussian_form.hpp"
#include "covary/kernels/node.hpp"
#include "report/explorer_script.hpp"
#include "report/style.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

constexpr Index most_weights = 400000;
constexpr Index most_bars = 12, least_image = 64;

// Every digit: weights of inducing inputs that lie close are large and cancel.
std::string numbers(const double* x, Index n) {
  return fmt::format("[{}]", fmt::join(x, x + n, ","));
}
std::string numbers(const Vector& x) { return numbers(x.data(), x.size()); }
std::string table(const RowMatrix& x) {
  std::string out = "[";
  for (Index i = 0; i < x.rows(); ++i)
    out += (i ? "," : "") + numbers(x.data() + i * x.cols(), x.cols());
  return out + "]";
}

// Quoted for JSON inside a script element: nothing in it can end either.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' ||
        static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + "\"";
}

struct Drawing {
  std::string kind;
  Index rows = 0, columns = 0;  // of an image; of points the coordinates are `columns`
};

bool read_number(const std::string& text, Index& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out > 0;
}

Drawing parse_drawing(const std::string& text) {
  const auto inside = [&](const std::string& name) {
    return text.starts_with(name + "(") && text.ends_with(")")
               ? text.substr(name.size() + 1, text.size() - name.size() - 2)
               : std::string();
  };
  if (text == "auto" || text == "curve" || text == "bars") return {text};
  Drawing out;
  if (const std::string size = inside("image"); !size.empty()) {
    const auto cross = size.find('x');
    if (cross != std::string::npos && read_number(size.substr(0, cross), out.rows) &&
        read_number(size.substr(cross + 1), out.columns)) {
      out.kind = "image";
      return out;
    }
  }
  if (read_number(inside("points"), out.columns) && (out.columns == 2 || out.columns == 3)) {
    out.kind = "points";
    return out;
  }
  throw InputError(fmt::format(
      "unknown drawing '{}'; choose auto, curve, bars, image(ROWSxCOLUMNS), points(2) or points(3)",
      text));
}

bool fits(const Drawing& d, Index outputs) {
  if (d.kind == "image") return d.rows * d.columns == outputs;
  if (d.kind == "points") return outputs % d.columns == 0;
  return d.kind != "auto";
}

Drawing usual_drawing(Index outputs) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(outputs))));
  if (outputs >= least_image && side * side == outputs) return {"image", side, side};
  return {outputs <= most_bars ? "bars" : "curve"};
}

// {"variance": …, "w": […], "c": […] if it is linear}, for each term of the kernel.
std::string terms_of(const Kernel& kernel, const Vector& theta, Index dims) {
  const auto form = kernel.node().gaussian_form(dims);
  if (!form)
    throw Unsupported(
        fmt::format("a page can decode sums and products of se, linear and constant; the "
                    "kernel is {}",
                    kernel.print()));
  std::vector<std::string> out;
  for (const GaussianTerm& term : form->terms) {
    double variance = term.factor;
    for (const Index at : term.variances) variance *= theta(at);
    Vector w = Vector::Zero(dims), c = Vector::Zero(dims);
    for (Index d = 0; d < dims; ++d) {
      const auto column = static_cast<std::size_t>(d);
      if (!term.lengthscales.empty())
        for (const Index at : term.lengthscales[column]) w(d) += 1.0 / (theta(at) * theta(at));
      if (term.is_linear() && term.linear[column] >= 0) c(d) = theta(term.linear[column]);
    }
    out.push_back(fmt::format("{{\"variance\":{},\"w\":{}{}}}", variance, numbers(w),
                              term.is_linear() ? ",\"c\":" + numbers(c) : ""));
  }
  return fmt::format("[{}]", fmt::join(out, ","));
}

std::string view_json(const GplvmFit& fit, const GplvmFit::Mapping& m, const Drawing& drawing) {
  const InducingView p = m.posterior.inducing();
  const UncertainInputs at(m.posterior);
  const Index M = p.features->size(), Q = fit.latent();
  std::vector<std::string> names;
  for (const Index column : m.view.columns) {
    const auto i = static_cast<std::size_t>(column);
    names.push_back(quoted(i < fit.output_names.size() ? fit.output_names[i]
                                                       : fmt::format("output {}", column)));
  }
  const RowMatrix Z = Eigen::Map<const RowMatrix>(p.z.data(), M, Q);
  return fmt::format(
      "{{\"name\":{},\"draw\":{},\"rows\":{},\"columns\":{},\"names\":[{}],\"terms\":{},\"Z\":{},"
      "\"weights\":{},\"reduced\":{},\"shift\":{},\"scale\":{}}}",
      quoted(m.view.name), quoted(drawing.kind), drawing.rows, drawing.columns,
      fmt::join(names, ","), terms_of(p.kernel, p.theta, Q), table(Z),
      table(RowMatrix(at.weights())), table(RowMatrix(at.reduced())), numbers(m.scaling.shift),
      numbers(m.scaling.scale));
}

std::vector<Drawing> drawings(const GplvmFit& fit, const std::string& asked) {
  const Drawing wanted = parse_drawing(asked);
  std::vector<Drawing> out;
  bool any = wanted.kind == "auto";
  for (const auto& m : fit.mappings) {
    const auto P = static_cast<Index>(m.view.columns.size());
    any = any || fits(wanted, P);
    out.push_back(fits(wanted, P) ? wanted : usual_drawing(P));
  }
  if (!any)
    throw InputError(fmt::format("outputs cannot be drawn as {}: {} has {} of them", asked,
                                 fit.mappings.size() == 1 ? "the model" : "the first view",
                                 fit.mappings.front().view.columns.size()));
  return out;
}

std::string model_json(const GplvmFit& fit, const LatentExplorerOptions& options) {
  Index weights = 0;
  for (const auto& m : fit.mappings)
    weights += m.posterior.inducing().features->size() * static_cast<Index>(m.view.columns.size());
  if (weights > most_weights)
    throw Unsupported(fmt::format(
        "the page would need {} weights, more than the {} that a browser handles well; decode in "
        "Python, or fit fewer columns or inducing inputs",
        weights, most_weights));
  const std::vector<Drawing> how = drawings(fit, options.draw);
  std::vector<std::string> views, labels;
  for (std::size_t v = 0; v < fit.mappings.size(); ++v)
    views.push_back(view_json(fit, fit.mappings[v], how[v]));
  for (const auto& label : fit.row_labels) labels.push_back(quoted(label));
  return fmt::format("{{\"order\":[{}],\"active\":{},\"mean\":{},\"labels\":[{}],\"views\":[{}]}}",
                     fmt::join(fit.by_relevance(), ","), fit.active().size(), table(fit.mean),
                     fmt::join(labels, ","), fmt::join(views, ","));
}

}  // namespace

std::string latent_explorer(const GplvmFit& fit, const LatentExplorerOptions& options) {
  if (fit.likelihood)
    throw Unsupported(fmt::format(
        "the page decodes Gaussian outputs, not those of {}; predict decodes points x0, x1, …",
        fit.likelihood->print()));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
      "form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"Covary\">\n<title>{0}</title>\n"
      "<style>{1}{2}</style>\n</head>\n<body>\n<header><h1>{0}</h1>\n<p>{3} rows in {4} latent "
      "dimensions. Move the pointer over the map, or give it the focus and use the arrow keys; a "
      "click goes to the nearest row. The background is darker where the model knows less.</p>"
      "</header>\n<main id=\"content\">{5}</main>\n<noscript><p>This page decodes by a script of "
      "its own, which the browser does not run.</p></noscript>\n"
      "<footer><p>Made by Covary. This page holds all it shows and fetches nothing.</p></footer>\n"
      "<script type=\"application/json\" id=\"model\">{6}</script>\n<script>{7}</script>\n"
      "</body>\n</html>\n",
      escape_html(options.title), page_style, explorer_style, fit.mean.rows(), fit.latent(),
      explorer_body, model_json(fit, options), explorer_script);
}

}  // namespace covary
