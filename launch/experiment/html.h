#pragma once

#include <string>
#include <string_view>

#include "launch/experiment/table.h"

namespace regraft::launch {

/// One HTML page that needs no other file: sections with paragraphs, tables and pictures.
class HtmlPage {
 public:
  explicit HtmlPage(const std::string& title);

  void section(const std::string& title);
  void paragraph(const std::string& text);
  void caption(const std::string& text);
  void table(const Table& table);
  /// Text as it is, folded away under a title.
  void details(const std::string& title, const std::string& text);
  /// An SVG document, put into the page.
  void picture(std::string_view svg);

  std::string finish() const;

 private:
  std::string body_;
};

}  // namespace regraft::launch
