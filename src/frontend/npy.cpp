// Reading and writing .npy files; sizes are checked before anything is allocated.
#include "src/frontend/npy.hpp"

#include <cstring>

#include "src/frontend/files.hpp"
#include "src/frontend/npy_header.hpp"

namespace facet {

namespace {

constexpr std::int64_t kMaxHeaderBytes = 1 << 20;
constexpr char kMagic[] = "\x93NUMPY";

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Result<NpyHeader> header_of(const InputFile& file, const Place& place) {
  const auto bad = [&](const std::string& reason) { return diagnose(Code::kNpyFormat, place, {file.path(), reason}); };
  unsigned char start[12] = {};
  if (!file.read(0, start, 10)) return bad("it has fewer than 10 bytes");
  if (std::memcmp(start, kMagic, 6) != 0) return bad("it does not begin with the .npy signature");
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0)
    return bad("its version is " + std::to_string(major) + "." + std::to_string(start[7]) + ", not 1.0, 2.0 or 3.0");
  const std::int64_t prefix = major == 1 ? 10 : 12;
  if (!file.read(0, start, prefix)) return bad("its header is cut");
  std::int64_t length = start[8] | start[9] << 8;
  if (major > 1) length |= std::int64_t{start[10]} << 16 | std::int64_t{start[11]} << 24;
  if (length > kMaxHeaderBytes) return bad("its header claims " + std::to_string(length) + " bytes");
  std::string text(static_cast<std::size_t>(length), '\0');
  if (!file.read(prefix, text.data(), length)) return bad("its header is cut");
  NpyHeader header;
  NpyFault fault;
  if (!parse_npy_dictionary(text, &header, &fault))
    return fault.pickled ? diagnose(Code::kNpyPickled, place, {file.path()}) : bad(fault.reason);
  header.data_offset = prefix + length;
  const std::int64_t count = npy_element_count(header.shape);
  std::int64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count, size_bytes(header.dtype), &bytes))
    return bad("its shape " + shape_text(header.shape) + " has 2^63 bytes or more");
  const std::int64_t found = file.size_bytes() - header.data_offset;
  if (found != bytes) return diagnose(Code::kNpySize, place, {file.path(), std::to_string(found), std::to_string(bytes)});
  return header;
}

// Fortran order to C order: the first axis is the fastest in the file.
void to_c_order(const std::vector<std::int64_t>& shape, std::int64_t element, const HostBytes& from, HostBytes* to) {
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> at(rank, 0), stride(rank, element);
  for (std::size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * shape[d - 1];
  std::int64_t source = 0;
  for (std::size_t target = 0; target < to->size(); target += static_cast<std::size_t>(element)) {
    std::memcpy(to->data() + target, from.data() + source, static_cast<std::size_t>(element));
    for (std::size_t d = rank; d-- > 0;) {
      source += stride[d];
      if (++at[d] < shape[d]) break;
      source -= stride[d] * shape[d];
      at[d] = 0;
    }
  }
}

HostTensor converted(const HostTensor& from, DType dtype) {
  HostTensor to = make_host_tensor(dtype, from.shape);
  for (std::int64_t i = 0; i < from.element_count(); ++i) to.set(i, from.get(i));
  return to;
}

}  // namespace

DType npy_dtype(DType dtype) { return dtype == DType::kBF16 ? DType::kF32 : dtype; }

Result<NpyHeader> read_npy_header(const std::string& path, Place place) {
  const Result<InputFile> file = InputFile::open(path, place);
  if (!file) return file.errors();
  return header_of(*file, place);
}

Result<HostTensor> read_npy(const std::string& path, Place place) {
  const Result<InputFile> file = InputFile::open(path, place);
  if (!file) return file.errors();
  const Result<NpyHeader> header = header_of(*file, place);
  if (!header) return header.errors();
  HostTensor tensor = make_host_tensor(header->dtype, header->shape);
  if (!file->read(header->data_offset, tensor.bytes.data(), static_cast<std::int64_t>(tensor.bytes.size())))
    return diagnose(Code::kFileUnreadable, place, {path, "it ended early"});
  if (header->dtype == DType::kBool)
    for (std::byte& b : tensor.bytes) b = std::byte{b != std::byte{0}};
  if (!header->fortran_order || header->shape.size() < 2 || tensor.bytes.empty()) return tensor;
  HostTensor ordered = make_host_tensor(header->dtype, header->shape);
  to_c_order(header->shape, size_bytes(header->dtype), tensor.bytes, &ordered.bytes);
  return ordered;
}

Result<HostTensor> read_npy_as(const std::string& path, const std::string& tensor, DType dtype,
                               const std::vector<std::int64_t>& extents, Place place) {
  const Result<NpyHeader> header = read_npy_header(path, place);
  if (!header) return header.errors();
  if (header->dtype != npy_dtype(dtype))
    return diagnose(Code::kNpyDtype, place, {path, to_text(header->dtype), tensor, to_text(dtype)});
  if (header->shape != extents)
    return diagnose(Code::kNpyShape, place, {path, shape_text(header->shape), tensor, shape_text(extents)});
  Result<HostTensor> values = read_npy(path, place);
  if (!values || dtype == npy_dtype(dtype)) return values;
  return converted(*values, dtype);
}

Result<Done> write_npy(const std::string& path, const HostTensor& tensor) {
  if (npy_dtype(tensor.dtype) != tensor.dtype) return write_npy(path, converted(tensor, npy_dtype(tensor.dtype)));
  std::string text =
      "{'descr': '" + npy_descr(tensor.dtype) + "', 'fortran_order': False, 'shape': " + shape_text(tensor.shape) + ", }";
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';  // data starts at a multiple of 64, as NumPy writes it
  text += '\n';
  std::string start(kMagic, 6);
  start += '\x01';
  start += '\0';
  start += static_cast<char>(text.size() & 0xFF);
  start += static_cast<char>(text.size() >> 8);
  start += text;
  return write_file(path, std::vector<Bytes>{{start.data(), static_cast<std::int64_t>(start.size())},
                                             {tensor.bytes.data(), static_cast<std::int64_t>(tensor.bytes.size())}});
}

}  // namespace facet
