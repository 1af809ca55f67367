#include "covary/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/style.hpp"
#include "report/text.hpp"

namespace covary {
namespace {

std::string legend_html(const std::vector<LegendEntry>& legend) {
  if (legend.empty()) return "";
  std::string out = "<ul class=\"legend\">";
  for (const auto& entry : legend)
    out += fmt::format("<li><span class=\"key {}\" aria-hidden=\"true\"></span>{}</li>",
                       escape_html(entry.mark), escape_html(entry.text));
  return out + "</ul>";
}

}  // namespace

Page::Page(std::string title, const std::string& lead) : title_(std::move(title)) {
  head_ = fmt::format("<h1>{}</h1>\n<p>{}</p>\n", escape_html(title_), escape_html(lead));
}

Page& Page::section(const std::string& heading) {
  const std::string id = fmt::format("part-{}", contents_.size() + 1);
  contents_.emplace_back(id, heading);
  body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", id, escape_html(heading));
  return *this;
}

Page& Page::heading(const std::string& text) {
  body_ += fmt::format("<h3>{}</h3>\n", escape_html(text));
  return *this;
}

Page& Page::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", escape_html(text));
  return *this;
}

Page& Page::list(const std::vector<std::string>& items, bool warnings) {
  if (items.empty()) return *this;
  body_ += warnings ? "<ul class=\"alerts\">\n" : "<ul>\n";
  for (const auto& item : items) body_ += fmt::format("<li>{}</li>\n", escape_html(item));
  body_ += "</ul>\n";
  return *this;
}

Page& Page::key_numbers(const std::vector<std::pair<std::string, std::string>>& numbers) {
  body_ += "<dl class=\"keys\">\n";
  for (const auto& [name, value] : numbers)
    body_ +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(name), escape_html(value));
  body_ += "</dl>\n";
  return *this;
}

Page& Page::table(const HtmlTable& table) {
  const auto alignment = [&](std::size_t j) {
    return j < table.align.size() && table.align[j] == 'r' ? " class=\"r\"" : "";
  };
  ++tables_;
  // A wide table scrolls by itself, and the keyboard reaches it.
  body_ += fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"table-{0}\">\n"
      "<table><caption id=\"table-{0}\"><span>{1}</span></caption>\n<thead><tr>",
      tables_, escape_html(table.caption));
  for (std::size_t j = 0; j < table.header.size(); ++j)
    body_ += fmt::format("<th scope=\"col\"{}>{}</th>", alignment(j), escape_html(table.header[j]));
  body_ += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    body_ += "<tr>";
    for (std::size_t j = 0; j < row.size(); ++j)
      body_ += j == 0 ? fmt::format("<th scope=\"row\">{}</th>", escape_html(row[j]))
                      : fmt::format("<td{}>{}</td>", alignment(j), escape_html(row[j]));
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table>\n</div>\n";
  return *this;
}

Page& Page::figures(const std::vector<Figure>& figures) {
  if (figures.empty()) return *this;
  // A legend that all pictures share is said once, below them.
  const bool one_legend =
      figures.size() > 1 && std::all_of(figures.begin(), figures.end(), [&](const Figure& f) {
        return f.legend == figures.front().legend;
      });
  body_ += "<div class=\"figures\">\n";
  for (const Figure& f : figures) {
    ++figures_;
    body_ += fmt::format("<figure{}>\n<figcaption><strong>{}</strong>",
                         f.wide ? " class=\"wide\"" : "", escape_html(f.title));
    if (!f.caption.empty()) body_ += fmt::format("<span>{}</span>", escape_html(f.caption));
    body_ += fmt::format(
        "</figcaption>\n<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
        "aria-labelledby=\"t{2} d{2}\"><title id=\"t{2}\">{3}</title><desc id=\"d{2}\">{4}</desc>"
        "{5}</svg>\n{6}</figure>\n",
        f.width, f.height, figures_, escape_html(f.title),
        escape_html(f.description.empty() ? f.caption : f.description), f.body,
        one_legend ? "" : legend_html(f.legend));
  }
  body_ += "</div>\n";
  if (one_legend) body_ += legend_html(figures.front().legend);
  return *this;
}

std::string Page::html() const {
  std::string contents;
  for (const auto& [id, heading] : contents_)
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, escape_html(heading));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"Covary\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n"
      "<header>\n{}</header>\n<nav aria-label=\"Contents\">\n<ul>\n{}</ul>\n</nav>\n"
      "<main id=\"content\" tabindex=\"-1\">\n{}</main>\n"
      "<footer><p>Made by Covary. This page holds all it shows and fetches nothing.</p></footer>\n"
      "</body>\n</html>\n",
      escape_html(title_), page_style, head_, contents, body_);
}

}  // namespace covary
