// The disk cache: hits, damage, strangers, other processes, and its bound.
#include "jit/cache/DiskCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace quern::jit;
namespace fs = std::filesystem;

namespace {

class DiskCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("quern-cache", path));
    folder = path.str().str();
  }
  void TearDown() override { fs::remove_all(folder); }

  std::unique_ptr<DiskCache> open(std::uint64_t bytes = 1 << 20) {
    DiskCache::Opened opened = DiskCache::open(folder, bytes);
    EXPECT_EQ(opened.warning, "");
    return std::move(opened.cache);
  }
  static CacheKey key(int number) {
    return KeyBuilder().add("key").add(std::to_string(number)).finish();
  }
  std::string path(int number) {
    return folder + "/" + key(number).text() + ".qno";
  }
  std::string folder;
};

TEST_F(DiskCacheTest, WhatIsStoredIsFoundByAnotherProcessToo) {
  auto cache = open();
  EXPECT_FALSE(cache->load(key(1)));
  std::string object("\0object\xff bytes", 14);
  cache->store(key(1), {"description", object});
  auto other = open();
  auto entry = other->load(key(1));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->description, "description");
  EXPECT_EQ(entry->object, object);
  EXPECT_FALSE(other->load(key(2)));
}

TEST_F(DiskCacheTest, PartsOfAKeyAreToldApart) {
  EXPECT_NE(KeyBuilder().add("ab").add("c").finish(),
            KeyBuilder().add("a").add("bc").finish());
  EXPECT_EQ(key(3).text().size(), 40u);
}

TEST_F(DiskCacheTest, EveryFlippedByteIsAMissAndTheEntryIsRemoved) {
  auto cache = open();
  cache->store(key(1), {"abi", "0123456789"});
  std::size_t size = fs::file_size(path(1));
  for (std::size_t at = 0; at < size; ++at) {
    if (at >= 28 && at < 32)
      continue; // reserved bytes carry nothing
    cache->store(key(1), {"abi", "0123456789"});
    std::fstream file(path(1), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    char byte = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 0x40));
    file.close();
    EXPECT_FALSE(cache->load(key(1))) << at;
    EXPECT_FALSE(fs::exists(path(1))) << at;
  }
}

TEST_F(DiskCacheTest, ATruncatedOrForeignFileIsAMiss) {
  auto cache = open();
  for (std::size_t size : {0u, 5u, 40u, 60u}) {
    cache->store(key(1), {"abi", "0123456789"});
    fs::resize_file(path(1), size);
    EXPECT_FALSE(cache->load(key(1))) << size;
  }
  cache->store(key(1), {"abi", "object"});
  fs::rename(path(1), path(2));
  EXPECT_FALSE(cache->load(key(2)));
  fs::create_directory(path(3));
  EXPECT_FALSE(cache->load(key(3)));
}

TEST_F(DiskCacheTest, APipeInPlaceOfAnEntryIsAMiss) {
  auto cache = open();
  ASSERT_EQ(::mkfifo(path(1).c_str(), 0600), 0);
  EXPECT_FALSE(cache->load(key(1)));
  cache->store(key(1), {"abi", "object"});
  EXPECT_TRUE(cache->load(key(1)));
}

TEST_F(DiskCacheTest, WhatOthersHaveOrMayHaveWrittenIsAMissAndRemoved) {
  auto cache = open();
  for (mode_t mode : {0666, 0620, 0602}) {
    cache->store(key(1), {"abi", "object"});
    ::chmod(path(1).c_str(), mode);
    EXPECT_FALSE(cache->load(key(1))) << mode;
    EXPECT_FALSE(fs::exists(path(1))) << mode;
  }
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give files away";
  cache->store(key(1), {"abi", "object"});
  ASSERT_EQ(::chown(path(1).c_str(), 12345, 12345), 0);
  EXPECT_FALSE(cache->load(key(1)));
  EXPECT_FALSE(fs::exists(path(1)));
}

TEST_F(DiskCacheTest, AnEntryFromTheFutureIsRenewedWhenItIsUsed) {
  auto cache = open();
  cache->store(key(1), {"abi", "object"});
  auto now = fs::file_time_type::clock::now();
  fs::last_write_time(path(1), now + std::chrono::hours(1000));
  EXPECT_TRUE(cache->load(key(1)));
  EXPECT_LT(fs::last_write_time(path(1)), now + std::chrono::hours(1));
}

TEST_F(DiskCacheTest, AFolderOthersMayWriteToIsRefused) {
  for (mode_t mode : {0777, 0770, 0722}) {
    ::chmod(folder.c_str(), mode);
    DiskCache::Opened opened = DiskCache::open(folder, 1000);
    EXPECT_FALSE(opened.cache) << mode;
    EXPECT_NE(opened.warning.find("may be written by others"),
              std::string::npos)
        << opened.warning;
  }
  ::chmod(folder.c_str(), 0755);
  EXPECT_TRUE(open());
}

TEST_F(DiskCacheTest, AFileInPlaceOfTheFolderIsAWarning) {
  std::ofstream(folder + "/file") << "x";
  DiskCache::Opened opened = DiskCache::open(folder + "/file", 1000);
  EXPECT_FALSE(opened.cache);
  EXPECT_NE(opened.warning, "");
}

TEST_F(DiskCacheTest, WhatCannotBeWrittenIsSaid) {
  auto cache = open();
  EXPECT_EQ(cache->store(key(1), {"abi", "object"}), "");
  fs::remove_all(folder);
  std::string warning = cache->store(key(2), {"abi", "object"});
  EXPECT_NE(warning.find(folder), std::string::npos) << warning;
  EXPECT_NE(warning.find("No such file"), std::string::npos) << warning;
}

TEST_F(DiskCacheTest, WhatFillsTheDiskIsSaidAndLeavesNothing) {
  auto full = [&] {
    auto cache = DiskCache::open(folder, 1 << 20).cache;
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit bound = {1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &bound);
    std::string warning = cache->store(key(1), {"", std::string(5000, 'x')});
    return warning.find("File too large") != std::string::npos;
  };
  pid_t pid = fork();
  if (pid == 0)
    _exit(!full());
  int status = -1;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(DiskCacheTest, ANewFolderIsPrivate) {
  std::string inner = folder + "/a/b";
  ASSERT_TRUE(DiskCache::open(inner, 1000).cache);
  struct stat info;
  ASSERT_EQ(::stat(inner.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(DiskCacheTest, TheLeastRecentlyUsedEntriesLeaveFirst) {
  auto cache = open(10'000);
  for (int number = 0; number < 9; ++number) {
    cache->store(key(number), {"", std::string(1000, 'x')});
    // Entry 0 is the oldest written, and yet the one used last.
    auto age = std::chrono::hours(number == 0 ? 0 : 100 - number);
    fs::last_write_time(path(number), fs::file_time_type::clock::now() - age);
  }
  cache->store(key(9), {"", std::string(1000, 'x')});
  cache->trim();
  EXPECT_TRUE(cache->load(key(0)));
  EXPECT_TRUE(cache->load(key(9)));
  EXPECT_FALSE(cache->load(key(1)));
  EXPECT_TRUE(cache->load(key(8)));
  std::uint64_t total = 0;
  for (const auto &item : fs::directory_iterator(folder))
    total += item.file_size();
  EXPECT_LE(total, 10'000u);
}

TEST_F(DiskCacheTest, TheBoundHoldsWithoutAskingForIt) {
  auto cache = open(20'000);
  for (int number = 0; number < 200; ++number)
    cache->store(key(number), {"", std::string(1000, 'x')});
  std::uint64_t total = 0;
  for (const auto &item : fs::directory_iterator(folder))
    total += item.file_size();
  EXPECT_LE(total, 20'000u + 20'000u / 8 + 2000);
}

TEST_F(DiskCacheTest, ProcessesWritingTheSameEntriesNeverShowHalfOfOne) {
  constexpr int children = 3, rounds = 100;
  std::vector<pid_t> pids;
  for (int child = 0; child < children; ++child) {
    pid_t pid = fork();
    if (pid == 0) {
      auto cache = DiskCache::open(folder, 1 << 20).cache;
      int bad = 0;
      for (int round = 0; round < rounds; ++round) {
        int number = round % 5;
        std::string object(5000, static_cast<char>('a' + number));
        cache->store(key(number), {"abi", object});
        auto entry = cache->load(key(number));
        bad += !entry || entry->object != object;
      }
      _exit(bad != 0);
    }
    pids.push_back(pid);
  }
  for (pid_t pid : pids) {
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(DiskCacheTest, AWriterKilledInTheMiddleLeavesNoBrokenEntry) {
  pid_t pid = fork();
  if (pid == 0) {
    auto cache = DiskCache::open(folder, 1 << 24).cache;
    for (int number = 0;; number = (number + 1) % 8)
      cache->store(key(number), {"abi", std::string(200'000, 'z')});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ::kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  auto cache = open(1 << 24);
  for (int number = 0; number < 8; ++number) {
    if (!fs::exists(path(number)))
      continue;
    auto entry = cache->load(key(number));
    ASSERT_TRUE(entry) << number;
    EXPECT_EQ(entry->object.size(), 200'000u);
  }
}

/// A folder may be shared with files of the user's own.
TEST_F(DiskCacheTest, OnlyItsOwnTemporaryFilesAreRemoved) {
  std::string own = path(7) + ".0123456789abcdef.tmp";
  std::vector<std::string> others = {
      folder + "/notes.tmp", folder + "/a.qno.tmp", folder + "/old.qno",
      path(7) + ".42.0.tmp", path(7) + ".0123456789abcdeg.tmp"};
  for (const std::string &file : others)
    std::ofstream(file) << "text";
  std::ofstream(own) << "text";
  for (const fs::directory_entry &each : fs::directory_iterator(folder))
    fs::last_write_time(each, fs::file_time_type::clock::now() -
                                  std::chrono::hours(24));
  auto cache = open(1000);
  for (int number = 0; number < 20; ++number)
    cache->store(key(number), {"", std::string(200, 'x')});
  EXPECT_FALSE(fs::exists(own));
  for (const std::string &file : others)
    EXPECT_TRUE(fs::exists(file)) << file;
}

/// Processes of two containers have the same number.
TEST_F(DiskCacheTest, WhatADeadProcessLeftIsInNobodysWay) {
  auto cache = open();
  for (int write = 0; write < 64; ++write)
    std::ofstream(path(1) + "." + std::to_string(::getpid()) + "." +
                  std::to_string(write) + ".tmp")
        << "text";
  EXPECT_EQ(cache->store(key(1), {"", "object"}), "");
  EXPECT_TRUE(cache->load(key(1)));
}

} // namespace
