// .npy files: what NumPy writes is read, everything hostile is refused before memory is taken.
#include "src/frontend/npy.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace facet {
namespace {

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("facet_npy_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& bytes) {
    const std::string path = folder_ / "t.npy";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // A file of the given version with this dictionary and data.
  std::string npy(const std::string& dictionary, const std::string& data, int major = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(major);
    bytes += '\0';
    bytes += static_cast<char>(dictionary.size());
    bytes += '\0';
    if (major > 1) bytes += std::string(2, '\0');
    return file(bytes + dictionary + data);
  }
  Code refused(const std::string& path) {
    const Result<HostTensor> t = read_npy(path, {});
    EXPECT_FALSE(t) << path;
    return t ? Code::kInternalError : t.errors()[0].code;
  }
  std::filesystem::path folder_;
};

TEST_F(Npy, RoundTripsEveryDtype) {
  for (const DType dtype :
       {DType::kBool, DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI64, DType::kF16, DType::kF32, DType::kF64}) {
    HostTensor t = make_host_tensor(dtype, {2, 3});
    for (std::int64_t i = 0; i < 6; ++i) t.set(i, static_cast<double>(i % 2));
    const std::string path = folder_ / "d.npy";
    ASSERT_TRUE(write_npy(path, t));
    const Result<HostTensor> back = read_npy(path, {});
    ASSERT_TRUE(back) << to_text(dtype);
    EXPECT_EQ(back->dtype, dtype);
    EXPECT_EQ(back->shape, t.shape);
    EXPECT_EQ(back->bytes, t.bytes);
  }
}

TEST_F(Npy, Bf16IsF32InFiles) {
  HostTensor t = make_host_tensor(DType::kBF16, {});
  t.set(0, 3.140625);
  const std::string path = folder_ / "b.npy";
  ASSERT_TRUE(write_npy(path, t));
  EXPECT_EQ(read_npy_header(path, {})->dtype, DType::kF32);
  const Result<HostTensor> back = read_npy_as(path, "b", DType::kBF16, {}, {});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->bytes, t.bytes);
}

TEST_F(Npy, FortranOrderBecomesCOrder) {
  const std::string path = npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6");
  const Result<HostTensor> t = read_npy(path, {});
  ASSERT_TRUE(t);
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(t->get_int(i), i + 1);
}

TEST_F(Npy, VersionsAndSpellings) {
  EXPECT_TRUE(read_npy(npy("{'shape': (1,), 'fortran_order': False, 'descr': '|u1'}\n", "x", 2), {}));
  EXPECT_TRUE(read_npy(npy("{\"descr\": '<i1', 'fortran_order': False, 'shape': ()}", "x", 3), {}));
  EXPECT_TRUE(read_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 0)}", ""), {}));
}

TEST_F(Npy, RefusesHostileFiles) {
  EXPECT_EQ(refused(file("")), Code::kNpyFormat);
  EXPECT_EQ(refused(file("PK\x03\x04 a zip file")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "x")), Code::kNpyPickled);
  EXPECT_EQ(refused(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "xxxx")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "xxxx")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "xxxx")), Code::kNpySize);
  EXPECT_EQ(refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "xxxxx")), Code::kNpySize);
  EXPECT_EQ(refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "")),
            Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976,), }", "")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "xxxx")),
            Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '<f4', 'shape': (1,), }", "xxxx")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '<f4', 'fortran_order': os.system('x'), 'shape': (1,), }", "xxxx")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("", "")), Code::kNpyFormat);
  EXPECT_EQ(refused(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", "x", 4)), Code::kNpyFormat);
  EXPECT_EQ(refused(file(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12))), Code::kNpyFormat);
  EXPECT_EQ(refused("/dev/zero"), Code::kNotRegularFile);
  EXPECT_EQ(refused(folder_), Code::kNotRegularFile);
  EXPECT_EQ(refused(folder_ / "absent.npy"), Code::kFileUnreadable);
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refused(pipe), Code::kNotRegularFile);
}

TEST_F(Npy, DeclarationMustMatch) {
  const std::string path = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "xxxx");
  EXPECT_TRUE(read_npy_as(path, "x", DType::kF32, {1}, {}));
  EXPECT_EQ(read_npy_as(path, "x", DType::kF64, {1}, {}).errors()[0].code, Code::kNpyDtype);
  EXPECT_EQ(read_npy_as(path, "x", DType::kF32, {1, 1}, {}).errors()[0].code, Code::kNpyShape);
}

TEST_F(Npy, WritingFailsCleanly) {
  const HostTensor t = make_host_tensor(DType::kF32, {1});
  EXPECT_EQ(write_npy((folder_ / "no/such/x.npy").string(), t).errors()[0].code, Code::kFileUnwritable);
  EXPECT_EQ(write_npy("/dev/null", t).errors()[0].code, Code::kFileUnwritable);
  ASSERT_TRUE(write_npy((folder_ / "x.npy").string(), t));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) files += entry.is_regular_file();
  EXPECT_EQ(files, 1);  // no temporary file is left
}

}  // namespace
}  // namespace facet
