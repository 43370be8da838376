#include "launch/experiment/html.h"

namespace regraft::launch {
namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + escaped(text) + "</" + name + ">\n";
}

constexpr const char* kStyle =
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0;font-size:90%}"
    "td,th{border-bottom:1px solid #ddd;padding:.2em .8em;text-align:right}"
    "td:first-child,th:first-child{text-align:left}h2{border-bottom:1px solid #999;margin-top:2em}"
    "svg{max-width:100%;height:auto}pre{overflow:auto;background:#f6f6f6;padding:1em}.c{font-weight:600}";

}  // namespace

HtmlPage::HtmlPage(const std::string& title)
    : body_("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" + element("title", title) +
            "<style>" + kStyle + "</style></head><body>\n" + element("h1", title)) {}

void HtmlPage::section(const std::string& title) {
  body_ += element("h2", title);
}

void HtmlPage::paragraph(const std::string& text) {
  body_ += element("p", text);
}

void HtmlPage::caption(const std::string& text) {
  body_ += "<p class=\"c\">" + escaped(text) + "</p>\n";
}

void HtmlPage::table(const Table& table) {
  body_ += "<table><tr>";
  for (const std::string& name : table.columns()) body_ += "<th>" + escaped(name) + "</th>";
  body_ += "</tr>\n";
  for (const auto& row : table.rows()) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += "<td>" + escaped(cell) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</table>\n";
}

void HtmlPage::details(const std::string& title, const std::string& text) {
  body_ += "<details>" + element("summary", title) + element("pre", text) + "</details>\n";
}

void HtmlPage::picture(std::string_view svg) {
  const std::size_t start = svg.find("<svg");
  if (start != std::string_view::npos) body_ += "<figure>" + std::string(svg.substr(start)) + "</figure>\n";
}

std::string HtmlPage::finish() const {
  return body_ + "</body></html>\n";
}

}  // namespace regraft::launch
