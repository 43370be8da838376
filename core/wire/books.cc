#include "core/wire/books.h"

#include <array>
#include <iomanip>
#include <sstream>
#include <string_view>

namespace regraft::wire {
namespace {

struct Column {
  std::string_view title;
  std::uint64_t Books::*count;
};

constexpr std::array<Column, 11> kColumns{{{"issued", &Books::issued},
                                           {"admitted", &Books::admitted},
                                           {"stale", &Books::stale},
                                           {"rejected", &Books::rejected},
                                           {"dropped", &Books::dropped},
                                           {"lost", &Books::lost},
                                           {"outstanding", &Books::outstanding},
                                           {"retained", &Books::retained},
                                           {"rolled back", &Books::rolled_back},
                                           {"late", &Books::late},
                                           {"duplicates", &Books::duplicates}}};

void print_row(std::ostream& out, const std::string& name, const Books& books) {
  out << std::left << std::setw(11) << name << std::right;
  for (const Column& column : kColumns) {
    out << std::setw(static_cast<int>(column.title.size()) + 2) << books.*column.count;
  }
  out << '\n';
}

}  // namespace

std::vector<std::string> Books::check() const {
  std::vector<std::string> wrong;
  const auto text = [](std::uint64_t value) { return std::to_string(value); };
  const std::uint64_t sum = admitted + stale + rejected + dropped + lost + outstanding;
  const std::string who = "generation " + text(generation) + ": ";
  if (issued != sum) wrong.push_back(who + "issued " + text(issued) + ", accounted for " + text(sum));
  if (admitted != retained + rolled_back) {
    wrong.push_back(who + "admitted " + text(admitted) + ", retained " + text(retained) + ", rolled back " +
                    text(rolled_back));
  }
  return wrong;
}

Books& Books::operator+=(const Books& other) {
  for (const Column& column : kColumns) this->*column.count += other.*column.count;
  return *this;
}

Books JobBooks::total() const {
  Books sum;
  for (const Books& books : generations) {
    sum += books;
    sum.generation = books.generation;
  }
  return sum;
}

std::vector<std::string> JobBooks::check() const {
  std::vector<std::string> wrong;
  for (const Books& books : generations) {
    const auto lines = books.check();
    wrong.insert(wrong.end(), lines.begin(), lines.end());
    if (&books != &generations.back() && books.outstanding != 0) {
      wrong.push_back("generation " + std::to_string(books.generation) +
                      " has ended with tickets outstanding");
    }
  }
  return wrong;
}

std::string JobBooks::table() const {
  std::ostringstream out;
  out << std::left << std::setw(11) << "generation" << std::right;
  for (const Column& column : kColumns) out << "  " << column.title;
  out << '\n';
  for (const Books& books : generations) print_row(out, std::to_string(books.generation), books);
  if (generations.size() > 1) print_row(out, "all", total());
  const auto wrong = check();
  if (wrong.empty()) out << "the books balance\n";
  for (const std::string& line : wrong) out << "THE BOOKS DO NOT BALANCE: " << line << '\n';
  return out.str();
}

}  // namespace regraft::wire
