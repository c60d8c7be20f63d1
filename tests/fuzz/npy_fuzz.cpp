// Fuzzing of the .npy reader: any bytes give diagnostics or an array of the size that its header says.
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "src/frontend/npy.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace facet;
  const int fd = ::memfd_create("npy", MFD_CLOEXEC);
  require(fd >= 0 && ::write(fd, data, size) == static_cast<ssize_t>(size), "no file in memory");
  const Result<HostTensor> tensor = read_npy("/proc/self/fd/" + std::to_string(fd), {});
  ::close(fd);
  if (!tensor) {
    require_explained(tensor.errors());
    return 0;
  }
  require(static_cast<std::int64_t>(tensor->bytes.size()) == tensor->element_count() * size_bytes(tensor->dtype),
          "the array's size is not what its shape says");
  return 0;
}
