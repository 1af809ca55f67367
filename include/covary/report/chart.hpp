#pragma once

#include <string>
#include <vector>

#include "covary/linalg/types.hpp"

namespace covary {

// What a mark stands for. Its colour and weight are the page's, so that light, dark and print
// differ there and nowhere else.
enum class Ink { data, held_out, mean, function, outcome, draw, guide, a, b, c, d, e, f };
const char* css_class(Ink ink);
Ink series_ink(Index i);  // a … f, and again from a

struct LegendEntry {
  std::string mark;  // CSS classes, such as "line mean"
  std::string text;
  bool operator==(const LegendEntry&) const = default;
};

// A picture for a page. All text but `body` is plain and escaped by the page.
struct Figure {
  std::string title;
  std::string description;  // what it shows, for those who cannot see it
  std::string caption;
  double width = 0.0, height = 0.0;  // of the view box
  bool wide = false;                 // takes the whole width of the page
  std::string body;                  // SVG elements
  std::vector<LegendEntry> legend;
};

class Axis;

// A picture with two axes. Marks are drawn in the order given, each only where it is finite: a line
// or band breaks at other values, a point is left out. Long lines and clouds are thinned evenly, to
// 1000 and 1500 points.
class Chart {
 public:
  Chart(std::string title, std::string x_label, std::string y_label, bool wide = false);

  Chart& describe(std::string description);
  Chart& caption(std::string caption);
  Chart& line(ConstVector x, ConstVector y, Ink ink, const std::string& legend = "");
  Chart& band(ConstVector x, ConstVector lower, ConstVector upper, Ink ink,
              const std::string& legend = "");
  Chart& points(ConstVector x, ConstVector y, Ink ink, const std::string& legend = "");
  // A histogram: the bar over [edges(i), edges(i+1)] has height heights(i).
  Chart& columns(ConstVector edges, ConstVector heights, Ink ink, const std::string& legend = "");
  // Short strokes along the x axis.
  Chart& rug(ConstVector x, Ink ink, const std::string& legend = "");

  // Without these the axes hold all marks.
  Chart& x_limits(double low, double high);
  Chart& y_limits(double low, double high);
  Chart& log_y();
  // The values of x are days since 1970-01-01, and its ticks dates.
  Chart& dates_on_x(bool dates = true);

  Figure figure() const;

 private:
  enum class Kind { line, band, points, columns, rug };
  struct Mark {
    Kind kind;
    Vector x, y, upper;
    Ink ink;
  };
  struct Limits {
    bool given = false;
    double low = 0.0, high = 0.0;
  };
  Chart& add(Mark mark, const char* look, const std::string& legend);
  static std::string drawn(const Mark& mark, const Axis& x, const Axis& y, double plot_height);

  std::string title_, x_label_, y_label_, description_, caption_;
  bool wide_, log_y_ = false, dates_ = false;
  std::vector<Mark> marks_;
  std::vector<LegendEntry> legend_;
  Limits x_limits_, y_limits_;
};

// Horizontal bars from 0, one for each name, in the order given; negative and non-finite values
// count as 0.
Figure bar_chart(const std::string& title, const std::vector<std::string>& names,
                 ConstVector values, const std::string& value_name);

// A matrix as an image, first row on top, with a scale of its colours. `names` of rows and columns
// may be empty.
Figure heat_map(const std::string& title, ConstMatrix values,
                const std::vector<std::string>& names = {});

}  // namespace covary
