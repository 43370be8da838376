#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

struct rusage;

namespace regraft {

/// The largest resident set of this process so far (VmHWM); 0 where the system does not tell.
std::uint64_t peak_rss_bytes();
/// The same of the largest of this process and of the children that it has waited for.
std::uint64_t peak_rss_bytes_with_children();

/// CPU time of each thread of this process that lives, by its number; empty where the system does not tell.
std::map<pid_t, std::uint64_t> thread_cpu_ns();
/// User and system time of this process with all its threads, without its children.
double cpu_seconds();
/// The same of what the system counted.
double cpu_seconds(const rusage& usage);

}
