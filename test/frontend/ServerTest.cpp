// The parts of the language server that no editor shows: places and frames.
#include "frontend/server/Frames.h"
#include "frontend/server/Lines.h"
#include "frontend/server/Loop.h"
#include "frontend/server/Uri.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::server;

namespace {

/// Gives `text` in pieces of `step` bytes.
FrameReader readerOf(std::string text, std::size_t step,
                     std::size_t largest = FrameReader::largestBody) {
  auto rest = std::make_shared<std::string>(std::move(text));
  auto read = [rest, step](char *to, std::size_t size) {
    std::size_t part = std::min({size, step, rest->size()});
    std::copy_n(rest->begin(), part, to);
    rest->erase(0, part);
    return part;
  };
  return FrameReader(read, largest);
}

TEST(LinesTest, CountsUtf16Units) {
  llvm::StringRef text = "aé😀b\r\nc\rd";
  LineTable lines(text);
  EXPECT_EQ(lines.offsetOf(text, {0, 2}), 3u); // after é
  EXPECT_EQ(lines.offsetOf(text, {0, 4}), 7u); // after the pair
  EXPECT_EQ(lines.offsetOf(text, {0, 3}), 3u); // within it: in front
  EXPECT_EQ(lines.positionOf(text, 7).character, 4u);
  EXPECT_EQ(lines.positionOf(text, text.find('c')).line, 1u);
  EXPECT_EQ(lines.positionOf(text, text.find('d')).line, 2u);
}

TEST(LinesTest, PlacesBeyondTheTextAreItsEnds) {
  llvm::StringRef text = "ab\r\ncd";
  LineTable lines(text);
  EXPECT_EQ(lines.offsetOf(text, {0, 99}), 2u);
  EXPECT_EQ(lines.offsetOf(text, {9, 0}), text.size());
  EXPECT_EQ(lines.positionOf(text, 99).line, 1u);
}

TEST(FramesTest, MessagesInPieces) {
  for (std::size_t step : {1, 3, 1000}) {
    FrameReader frames = readerOf(frame("{}") + frame("[1, 2]"), step);
    std::string body;
    EXPECT_EQ(frames.next(body), FrameStatus::Message);
    EXPECT_EQ(body, "{}");
    EXPECT_EQ(frames.next(body), FrameStatus::Message);
    EXPECT_EQ(body, "[1, 2]");
    EXPECT_EQ(frames.next(body), FrameStatus::End);
  }
}

TEST(FramesTest, GoesOnBehindMalformedHeaders) {
  FrameReader frames =
      readerOf("Length: 3\r\n\r\ncontent-length: 2\r\nX: y\r\n\r\n{}", 1000);
  std::string body;
  EXPECT_EQ(frames.next(body), FrameStatus::Malformed);
  EXPECT_EQ(frames.next(body), FrameStatus::Message);
  EXPECT_EQ(body, "{}");
}

TEST(FramesTest, SkipsBodiesThatAreTooLarge) {
  constexpr std::size_t largest = 1000;
  std::string large(largest + 1, ' ');
  FrameReader frames = readerOf(frame(large) + frame("{}"), 100, largest);
  std::string body;
  EXPECT_EQ(frames.next(body), FrameStatus::TooLarge);
  EXPECT_EQ(frames.next(body), FrameStatus::Message);
  EXPECT_EQ(body, "{}");
}

TEST(MessagesTest, DeepAndDamagedTextsAreRefused) {
  std::string problem;
  EXPECT_FALSE(readMessage(std::string(1u << 20, '['), problem));
  EXPECT_FALSE(readMessage("{\"a\": ", problem));
  // Brackets within strings are not nested.
  EXPECT_TRUE(readMessage("\"" + std::string(1000, '[') + "\\\"[\"", problem));
  EXPECT_TRUE(readMessage("\"\xff\xfe\"", problem));
}

TEST(UriTest, PathsSurvive) {
  EXPECT_EQ(pathOfUri("file:///a%20b/%C3%A9.qn"), "/a b/é.qn");
  EXPECT_EQ(pathOfUri("file://localhost/a.qn"), "/a.qn");
  EXPECT_EQ(pathOfUri("untitled:Untitled-1"), "");
  EXPECT_EQ(pathOfUri("file:///a%2"), "/a%2");
  EXPECT_EQ(pathOfUri(uriOfPath("/a b/é#?.qn")), "/a b/é#?.qn");
}

} // namespace
