#pragma once

namespace regraft::launch {

/// Exit codes of the program. kForGood is a worker's: it failed and starting it again cannot help.
enum ExitCode : int { kDone = 0, kFailed = 1, kUsage = 2, kNotEquivalent = 3, kForGood = 4 };

}
