#pragma once

namespace covary {

// The parts of the page of latent_explorer.hpp that are the same for every model.
extern const char* const explorer_style;
extern const char* const explorer_body;
extern const char* const explorer_script;

}  // namespace covary
