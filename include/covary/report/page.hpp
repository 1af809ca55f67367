#pragma once

#include <string>
#include <utility>
#include <vector>

#include "covary/report/chart.hpp"

namespace covary {

// The first cell of each row is its heading. All text is plain.
struct HtmlTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string align;  // a letter a column: l or r; r for numbers. Missing ones are l
};

// A self-contained page, built from top to bottom. It fetches nothing and runs no script: its
// content security policy forbids both. Text is plain and escaped here.
class Page {
 public:
  Page(std::string title, const std::string& lead);

  // A heading with an entry in the list of contents.
  Page& section(const std::string& heading);
  Page& heading(const std::string& text);  // below a section
  Page& paragraph(const std::string& text);
  Page& list(const std::vector<std::string>& items, bool warnings = false);
  // The few numbers to read first: (name, value).
  Page& key_numbers(const std::vector<std::pair<std::string, std::string>>& numbers);
  Page& table(const HtmlTable& table);
  Page& figures(const std::vector<Figure>& figures);

  std::string html() const;

 private:
  std::string title_, head_, body_;
  std::vector<std::pair<std::string, std::string>> contents_;  // (id, heading)
  int figures_ = 0, tables_ = 0;
};

}  // namespace covary
