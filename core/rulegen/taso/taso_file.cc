#include "core/rulegen/taso/taso_file.h"

#include "core/rulegen/enumerate/term.h"

namespace regraft::rulegen {
namespace {

constexpr std::size_t kMostOps = 64;  // on a side: far above any rule that could be matched
constexpr std::int32_t kMostPorts = 2;
constexpr const char* kRemedy = "give a graph_subst.pb as TASO's generator writes it";

// The protobuf wire format (protobuf.dev/programming-guides/encoding), as far as these files use it.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::size_t offset, const std::string& where)
      : bytes_(bytes), base_(offset), where_(where) {}

  bool done() const { return at_ == bytes_.size(); }

  struct Field {
    std::uint64_t number = 0;
    bool nested = false;
    std::uint64_t value = 0;             // of numbers
    std::span<const std::byte> payload;  // of nested messages
    std::size_t offset = 0;              // of the payload, or behind the number

    /// The number, of which the file has the sign in 64 bits.
    std::int32_t int32(const std::string& where) const {
      const auto wide = static_cast<std::int64_t>(value);
      if (wide != static_cast<std::int32_t>(wide))
        throw RulegenError("the number " + std::to_string(wide) + ", of more than 32 bits",
                           where + ": byte " + std::to_string(offset), kRemedy);
      return static_cast<std::int32_t>(wide);
    }
  };
  Field next() {
    Field field;
    const std::uint64_t tag = varint();
    field.number = tag >> 3;
    field.nested = (tag & 7) == 2;
    if ((tag & 7) == 0) {
      field.value = varint();
      field.offset = base_ + at_;
    } else if (field.nested) {
      const std::uint64_t size = varint();
      if (size > bytes_.size() - at_) fail("a length that goes past the end");
      field.offset = base_ + at_;
      field.payload = bytes_.subspan(at_, size);
      at_ += size;
    } else {
      fail("wire type " + std::to_string(tag & 7) + ", which rule files do not use");
    }
    return field;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw RulegenError(what, where_ + ": byte " + std::to_string(base_ + at_), kRemedy);
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) fail("the file ends inside a number");
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    fail("a number of more than 64 bits");
  }

  std::span<const std::byte> bytes_;
  std::size_t base_, at_ = 0;
  const std::string& where_;
};

// Visits the fields of one message; each must be as `visit` takes it.
template <typename Visit>
void for_each_field(std::span<const std::byte> bytes, std::size_t offset, const std::string& where,
                    Visit visit) {
  Reader reader(bytes, offset, where);
  while (!reader.done()) {
    const Reader::Field field = reader.next();
    if (!visit(field)) reader.fail("field " + std::to_string(field.number) + " is not one of a rule file");
  }
}

// A message of up to four numbers.
std::array<std::int32_t, 4> read_numbers(const Reader::Field& message, std::uint64_t count,
                                         const std::string& where) {
  std::array<std::int32_t, 4> out{};
  for_each_field(message.payload, message.offset, where, [&](const Reader::Field& field) {
    if (field.nested || field.number == 0 || field.number > count) return false;
    out[field.number - 1] = field.int32(where);
    return true;
  });
  return out;
}

TasoOp read_op(const Reader::Field& message, const std::string& where) {
  TasoOp op;
  for_each_field(message.payload, message.offset, where, [&](const Reader::Field& field) {
    if (field.number == 1 && !field.nested) {
      op.type = field.int32(where);
    } else if (field.number == 2 && field.nested) {
      const auto numbers = read_numbers(field, 2, where);
      op.inputs.push_back({numbers[0], numbers[1]});
    } else if (field.number == 3 && field.nested) {
      const auto numbers = read_numbers(field, 2, where);
      op.parameters.emplace_back(numbers[0], numbers[1]);
    } else {
      return false;
    }
    return true;
  });
  return op;
}

TasoRule read_rule(const Reader::Field& message, const std::string& where) {
  TasoRule rule;
  for_each_field(message.payload, message.offset, where, [&](const Reader::Field& field) {
    if (!field.nested) return false;
    if (field.number == 1) {
      rule.source.push_back(read_op(field, where));
    } else if (field.number == 2) {
      rule.target.push_back(read_op(field, where));
    } else if (field.number == 3) {
      const auto n = read_numbers(field, 4, where);
      rule.outputs.push_back({{n[0], n[2]}, {n[1], n[3]}});
    } else {
      return false;
    }
    return true;
  });
  return rule;
}

bool refers(const TasoTensor& tensor, std::size_t ops) {
  return tensor.op >= 0 && static_cast<std::size_t>(tensor.op) < ops && tensor.port >= 0 &&
         tensor.port < kMostPorts;
}

void check(const TasoRule& rule, const std::string& where) {
  const auto fail = [&](const std::string& what) {
    throw RulegenError(what, where, "the file is damaged, or not one of TASO's");
  };
  if (rule.source.empty() || rule.target.empty()) fail("a side without ops");
  if (rule.outputs.empty()) fail("no outputs");
  for (const auto* side : {&rule.source, &rule.target}) {
    if (side->size() > kMostOps) fail("more than " + std::to_string(kMostOps) + " ops on a side");
    for (std::size_t i = 0; i < side->size(); ++i) {
      for (const TasoTensor& input : (*side)[i].inputs) {
        if (input.op < 0 ? input.port != 0 : !refers(input, i))
          fail("op " + std::to_string(i) + " reads what is not computed before it");
      }
    }
  }
  for (const TasoOutput& output : rule.outputs) {
    if (!refers(output.source, rule.source.size()) || !refers(output.target, rule.target.size()))
      fail("an output of an op that is not there");
  }
}

}  // namespace

std::int32_t TasoOp::parameter(TasoKey key) const {
  for (const auto& [held, value] : parameters) {
    if (held == static_cast<std::int32_t>(key)) return value;
  }
  throw RulegenError("an op of type " + std::to_string(type) + " without parameter " +
                         std::to_string(static_cast<std::int32_t>(key)),
                     "TASO rule", "");
}

std::vector<TasoRule> read_taso_rules(std::span<const std::byte> bytes, const std::string& where) {
  std::vector<TasoRule> rules;
  for_each_field(bytes, 0, where, [&](const Reader::Field& field) {
    if (!field.nested || field.number != 1) return false;
    rules.push_back(read_rule(field, where));
    check(rules.back(), where + ": rule " + std::to_string(rules.size() - 1));
    return true;
  });
  if (rules.empty()) throw RulegenError("holds no rules", where, "give a graph_subst.pb");
  return rules;
}

}
