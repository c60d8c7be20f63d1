// A scanner for exactly the literals that NumPy writes into headers.
#include "src/frontend/npy_header.hpp"

#include <charconv>

namespace facet {

namespace {

struct Row {
  const char* descr;
  DType dtype;
};
constexpr Row kRows[] = {{"|b1", DType::kBool}, {"|i1", DType::kI8},  {"|u1", DType::kU8},  {"<i2", DType::kI16},
                         {"<i4", DType::kI32},  {"<i8", DType::kI64}, {"<f2", DType::kF16}, {"<f4", DType::kF32},
                         {"<f8", DType::kF64},  {"<u2", DType::kU16}, {"<u4", DType::kU32}, {"<u8", DType::kU64}};

class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  bool eat(const std::string& token) {
    blanks();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  bool quoted(std::string* out) {
    blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return false;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string::npos) return false;
    *out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }
  bool integer(std::int64_t* out) {
    blanks();
    const std::from_chars_result r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), *out);
    if (r.ec != std::errc()) return false;
    at_ = static_cast<std::size_t>(r.ptr - text_.data());
    eat("L");  // Python 2 wrote 3L
    return true;
  }
  bool at_end() {
    blanks();
    return at_ >= text_.size();
  }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  const std::string& text_;
  std::size_t at_ = 0;
};

bool fail(NpyFault* fault, const std::string& reason) {
  fault->reason = reason;
  return false;
}

bool dtype_of(const std::string& descr, NpyHeader* header, NpyFault* fault) {
  for (const Row& row : kRows) {
    // One-byte types have no order: "<i1" and ">i1" occur in the wild.
    if (descr != row.descr && !(row.descr[0] == '|' && descr.size() == 3 && descr.substr(1) == row.descr + 1)) continue;
    header->dtype = row.dtype;
    return true;
  }
  if (descr.find('O') != std::string::npos) {
    fault->pickled = true;
    return fail(fault, "pickled objects");
  }
  if (descr.size() > 1 && descr[0] == '>') return fail(fault, "its numbers are big-endian (" + descr + ")");
  return fail(fault, "its element type '" + descr + "' is not supported");
}

bool shape_of(Scanner* scan, NpyHeader* header, NpyFault* fault) {
  constexpr std::size_t kMaxRank = 64;  // NumPy's own limit
  if (!scan->eat("(")) return fail(fault, "its header's shape is not a tuple");
  while (!scan->eat(")")) {
    std::int64_t extent = 0;
    if (!scan->integer(&extent) || extent < 0) return fail(fault, "its header's shape holds something that is no extent");
    header->shape.push_back(extent);
    if (header->shape.size() > kMaxRank) return fail(fault, "its rank is above 64");
    if (scan->eat(",")) continue;
    if (!scan->eat(")")) return fail(fault, "its header's shape is not a tuple");
    break;
  }
  return true;
}

}  // namespace

bool parse_npy_dictionary(const std::string& text, NpyHeader* header, NpyFault* fault) {
  Scanner scan(text);
  bool seen[3] = {false, false, false};
  if (!scan.eat("{")) return fail(fault, "its header is no dictionary");
  while (!scan.eat("}")) {
    std::string key, descr;
    if (!scan.quoted(&key) || !scan.eat(":")) return fail(fault, "its header is no dictionary of named entries");
    const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
    if (which < 0 || seen[which]) return fail(fault, "its header has the unexpected entry '" + key + "'");
    seen[which] = true;
    if (which == 0) {
      if (!scan.quoted(&descr)) return fail(fault, "its elements are structures, not numbers");
      if (!dtype_of(descr, header, fault)) return false;
    } else if (which == 1) {
      header->fortran_order = scan.eat("True");
      if (!header->fortran_order && !scan.eat("False")) return fail(fault, "its fortran_order is neither True nor False");
    } else if (!shape_of(&scan, header, fault)) {
      return false;
    }
    if (scan.eat(",")) continue;
    if (!scan.eat("}")) return fail(fault, "its header is cut or malformed");
    break;
  }
  if (!scan.at_end()) return fail(fault, "its header has text behind the dictionary");
  if (!(seen[0] && seen[1] && seen[2])) return fail(fault, "its header lacks descr, fortran_order or shape");
  return true;
}

std::string npy_descr(DType dtype) {
  for (const Row& row : kRows)
    if (row.dtype == dtype) return row.descr;
  return "<f4";  // bf16
}

std::int64_t npy_element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    if (extent == 0) return 0;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count)) return -1;
  return count;
}

}  // namespace facet
