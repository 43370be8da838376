#pragma once

#include <string>

namespace regraft {

/// When the signal ends this process, standard error says `words` first, as a line. For signals that would
/// end it now; where something else takes the signal already (a sanitizer, say) it goes on to.
void set_last_words(int signal, const std::string& words);

}
