#pragma once

namespace covary {

extern const char* const page_style;  // the CSS of every page

}  // namespace covary
