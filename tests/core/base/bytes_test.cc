#include "core/base/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"

namespace regraft {
namespace {

using ::testing::HasSubstr;
using Reader = ByteReader<FileError>;

TEST(ByteCodec, GivesBackWhatWasWritten) {
  Bytes bytes;
  ByteWriter out(bytes);
  const std::vector<std::uint64_t> numbers{0, 1, 127, 128, 300, ~std::uint64_t{0}};
  out.value(std::int32_t{-7});
  for (const std::uint64_t number : numbers) out.varint(number);
  out.text("text");
  out.raw({});
  Reader in(bytes, "here");
  EXPECT_EQ(in.value<std::int32_t>(), -7);
  for (const std::uint64_t number : numbers) EXPECT_EQ(in.varint(), number);
  EXPECT_EQ(in.left(), 4u);
  EXPECT_EQ(in.text(4), "text");
  in.finish();
}

TEST(ByteCodec, IsLittleEndianAndLeb128) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(std::uint16_t{0x0201});
  out.varint(300);
  const auto byte = [](int value) { return static_cast<std::byte>(value); };
  EXPECT_EQ(bytes, (Bytes{byte(1), byte(2), byte(0xAC), byte(2)}));
}

TEST(ByteCodec, SaysWhatIsWrongWhereAndWhatToDo) {
  const auto problem = [](const Bytes& bytes, const auto& read) -> std::string {
    Reader in(bytes, "here", "write it again");
    try {
      read(in);
    } catch (const FileError& error) {
      return error.what();
    }
    return "accepted";
  };
  const Bytes full(11, std::byte{0xFF});
  EXPECT_EQ(problem({}, [](Reader& in) { in.value<int>(); }), "here: ends too early (write it again)");
  EXPECT_THAT(problem(full, [](Reader& in) { in.varint(); }), HasSubstr("longer than 64 bits"));
  EXPECT_THAT(problem({std::byte{3}, std::byte{0}}, [](Reader& in) { in.count(); }),
              HasSubstr("a count exceeds the bytes that follow"));
  EXPECT_THAT(problem({std::byte{1}, std::byte{0}}, [](Reader& in) { in.count(2); }), HasSubstr("a count"));
  EXPECT_THAT(problem(full, [](Reader& in) { in.finish(); }), HasSubstr("bytes follow its end"));
  EXPECT_THAT(problem(full, [](Reader& in) { in.raw(12); }), HasSubstr("ends too early"));
}

}  // namespace
}
