#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace covary::testing {

inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

// The d attribute of the paths whose class begins with `look`.
inline std::vector<std::string> paths(const std::string& svg, const std::string& look) {
  std::vector<std::string> out;
  const std::string begin = "<path class=\"" + look;
  for (std::size_t at = 0; (at = svg.find(begin, at)) != std::string::npos; ++at) {
    const auto first = svg.find(" d=\"", at) + 4;
    out.push_back(svg.substr(first, svg.find('"', first) - first));
  }
  return out;
}

inline std::vector<double> numbers(const std::string& path) {
  std::vector<double> out;
  const std::regex number("-?[0-9]+\\.?[0-9]*");
  for (std::sregex_iterator i(path.begin(), path.end(), number), end; i != end; ++i)
    out.push_back(std::stod(i->str()));
  return out;
}

// Attributes hold no number that is not finite, and every element that opens also closes.
inline void expect_sound(const std::string& markup) {
  for (std::size_t at = 0; (at = markup.find('<', at)) != std::string::npos; ++at) {
    const std::string tag = markup.substr(at, markup.find('>', at) - at);
    const std::string element = tag.substr(0, 5);
    if (element != "<path" && element != "<rect" && element != "<text" && element != "<svg ")
      continue;
    EXPECT_EQ(tag.find("nan"), std::string::npos) << tag.substr(0, 300);
    EXPECT_EQ(tag.find("inf"), std::string::npos) << tag.substr(0, 300);
  }
  for (const char* name : {"svg", "figure", "table", "tr", "td", "th", "ul", "li", "main", "div",
                           "g", "text", "title", "desc", "p", "h2", "h3"}) {
    const std::string tag = name;
    EXPECT_EQ(count(markup, "<" + tag + ">") + count(markup, "<" + tag + " "),
              count(markup, "</" + tag + ">"))
        << tag;
  }
}

}  // namespace covary::testing
