#pragma once

#include <filesystem>
#include <string>

#include "launch/experiment/spec.h"

namespace regraft::launch {

/// The gnuplot script that draws a plot of a table as SVG on its standard output. Lines: the interquartile
/// mean of y over the rows of equal series and about equal x (forty bins where there are more), with the
/// middle half of the values as a band. Bars: interquartile means by x and series with 95 % bootstrap
/// intervals. Heat: sums of `value` by x and y. Scatter: every row. Throws ExperimentError on a column that
/// is not there.
std::string plot_script(const ExperimentPlot& plot, const Table& table);

/// Runs gnuplot on a script and writes the picture. Throws ExperimentError with gnuplot's own words, and
/// ProcessError where it is not installed.
void draw(const std::string& script, const std::filesystem::path& svg);

}  // namespace regraft::launch
