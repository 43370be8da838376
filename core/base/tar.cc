#include "core/base/tar.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <utility>

namespace regraft {
namespace {

// A header is one block; contents are filled up with zeros to whole blocks; blocks of zeros end it all.
constexpr std::size_t kBlock = 512;
constexpr std::string_view kLongNameOf = "././@LongLink";  // GNU: its contents are the name of the next file
constexpr char kFile = '0', kOldFile = '\0', kLongName = 'L';

struct Field {
  std::size_t at, bytes;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
    kSum{148, 8}, kMagic{257, 8}, kPrefix{345, 155};
constexpr std::size_t kType = 156;

std::string_view text_of(std::string_view header, Field field) {
  const std::string_view text = header.substr(field.at, field.bytes);
  return text.substr(0, text.find('\0'));
}

std::optional<std::size_t> number_of(std::string_view header, Field field) {
  std::string_view digits = text_of(header, field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  if (error != std::errc{} || (end != digits.data() + digits.size() && *end != ' ')) return std::nullopt;
  return number;
}

// The sum of all bytes, those of the sum itself taken as spaces.
std::size_t sum_of(std::string_view header) {
  const auto add = [](std::size_t sum, char byte) { return sum + static_cast<std::uint8_t>(byte); };
  const std::string_view sum = header.substr(kSum.at, kSum.bytes);
  return std::accumulate(header.begin(), header.end(), kSum.bytes * ' ', add) -
         std::accumulate(sum.begin(), sum.end(), std::size_t{0}, add);
}

void put(std::string& header, Field field, std::string_view text) {
  header.replace(field.at, std::min(text.size(), field.bytes), text.substr(0, field.bytes));
}

// Octal, with zeros before it and a NUL behind.
void put(std::string& header, Field field, std::size_t number) {
  for (std::size_t i = field.bytes - 1; i-- > 0; number /= 8)
    header[field.at + i] = static_cast<char>('0' + number % 8);
}

void append(std::string& archive, std::string_view name, char type, std::string_view contents) {
  constexpr std::size_t kReadable = 0644;
  std::string header(kBlock, '\0');
  put(header, kName, name);
  put(header, kMode, kReadable);
  for (const Field field : {kUser, kGroup, kTime}) put(header, field, 0);
  put(header, kSize, contents.size());
  put(header, kMagic, std::string_view("ustar\00000", kMagic.bytes));
  header[kType] = type;
  put(header, {kSum.at, kSum.bytes - 1}, sum_of(header));
  header[kSum.at + kSum.bytes - 1] = ' ';
  archive.append(header).append(contents);
  archive.resize((archive.size() + kBlock - 1) / kBlock * kBlock, '\0');
}

std::string name_of(std::string_view header) {
  std::string name(text_of(header, kName));
  const std::string_view prefix = text_of(header, kPrefix);
  if (header.substr(kMagic.at, kMagic.bytes) == std::string_view("ustar\00000", kMagic.bytes) &&
      !prefix.empty())
    name = std::string(prefix) + '/' + name;
  return name.starts_with("./") ? name.substr(2) : name;
}

}  // namespace

std::string tar(const FileTexts& files) {
  std::string archive;
  for (const auto& [name, contents] : files) {
    if (name.size() > kName.bytes) append(archive, kLongNameOf, kLongName, name + '\0');
    append(archive, name, kFile, contents);
  }
  return archive.append(2 * kBlock, '\0');
}

std::optional<FileTexts> untar(std::string_view archive) {
  FileTexts files;
  std::string long_name;
  for (std::size_t at = 0; at + kBlock <= archive.size();) {
    const std::string_view header = archive.substr(at, kBlock);
    if (header.find_first_not_of('\0') == std::string_view::npos) return files;
    const auto sum = number_of(header, kSum), size = number_of(header, kSize);
    at += kBlock;
    if (sum != sum_of(header) || !size || *size > archive.size() - at) return std::nullopt;
    const std::string_view contents = archive.substr(at, *size);
    at += (*size + kBlock - 1) / kBlock * kBlock;
    const char type = header[kType];
    if (type == kLongName) {
      long_name = contents.substr(0, contents.find('\0'));
    } else if (type == kFile || type == kOldFile) {
      files[long_name.empty() ? name_of(header) : std::exchange(long_name, {})] = contents;
    }
  }
  return std::nullopt;  // no end
}

}
