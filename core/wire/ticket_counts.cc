#include "core/wire/ticket_counts.h"

#include <array>
#include <iomanip>
#include <sstream>
#include <string_view>

namespace regraft::wire {
namespace {

struct Column {
  std::string_view title;
  std::uint64_t TicketCounts::*count;
};

constexpr std::array<Column, 11> kColumns{
    {{"issued", &TicketCounts::issued},
     {"admitted", &TicketCounts::admitted},
     {"stale", &TicketCounts::stale},
     {"rejected", &TicketCounts::rejected},
     {"dropped", &TicketCounts::dropped},
     {"lost", &TicketCounts::lost},
     {"outstanding", &TicketCounts::outstanding},
     {"retained", &TicketCounts::retained},
     {"rolled back", &TicketCounts::rolled_back},
     {"late", &TicketCounts::late},
     {"duplicates", &TicketCounts::duplicates}},
};

void print_row(std::ostream& out, const std::string& name, const TicketCounts& counts) {
  out << std::left << std::setw(11) << name << std::right;
  for (const Column& column : kColumns) {
    out << std::setw(static_cast<int>(column.title.size()) + 2) << counts.*column.count;
  }
  out << '\n';
}

}  // namespace

std::vector<std::string> TicketCounts::check() const {
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

TicketCounts& TicketCounts::operator+=(const TicketCounts& other) {
  for (const Column& column : kColumns) this->*column.count += other.*column.count;
  return *this;
}

TicketCounts JobTicketCounts::total() const {
  TicketCounts sum;
  for (const TicketCounts& counts : generations) {
    sum += counts;
    sum.generation = counts.generation;
  }
  return sum;
}

std::vector<std::string> JobTicketCounts::check() const {
  std::vector<std::string> wrong;
  for (const TicketCounts& counts : generations) {
    const auto lines = counts.check();
    wrong.insert(wrong.end(), lines.begin(), lines.end());
    if (&counts != &generations.back() && counts.outstanding != 0) {
      wrong.push_back("generation " + std::to_string(counts.generation) +
                      " has ended with tickets outstanding");
    }
  }
  return wrong;
}

std::string JobTicketCounts::table() const {
  std::ostringstream out;
  out << std::left << std::setw(11) << "generation" << std::right;
  for (const Column& column : kColumns) out << "  " << column.title;
  out << '\n';
  for (const TicketCounts& counts : generations) print_row(out, std::to_string(counts.generation), counts);
  if (generations.size() > 1) print_row(out, "all", total());
  const auto wrong = check();
  if (wrong.empty()) out << "the ticket counts balance\n";
  for (const std::string& line : wrong) out << "THE TICKET COUNTS DO NOT BALANCE: " << line << '\n';
  return out.str();
}

}
