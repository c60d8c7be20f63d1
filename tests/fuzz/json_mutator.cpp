// Mutations of JSON documents as trees: most random changes of their bytes are syntax errors, which one test covers.
//
// A quarter of the time, and when the text is no JSON, libFuzzer mutates the bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "src/frontend/json_tree.hpp"
#include "tests/fuzz/words.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace facet;
using Random = std::minstd_rand;

void collect(JsonValue* value, std::vector<JsonValue*>* out) {
  out->push_back(value);
  for (JsonValue& item : value->items) collect(&item, out);
  for (JsonMember& m : value->members) collect(&m.value, out);
}

template <class T>
const T& pick(const std::vector<T>& list, Random* random) {
  return list[(*random)() % list.size()];
}

void mutate_text(std::string* text, Random* random) {
  if ((*random)() % 2 == 0) {
    *text = pick(fuzz_words(), random);
    return;
  }
  std::string buffer = *text;
  buffer.resize(text->size() + 16);
  const std::size_t size = LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(buffer.data()), text->size(), buffer.size());
  buffer.resize(size);
  *text = buffer;
}

void mutate_number(JsonValue* value, Random* random) {
  static const std::vector<std::int64_t> kEdges = {0,         1,         -1,           2, 3, 7, 64, 255, 1 << 16, INT32_MAX,
                                                   INT64_MAX, INT64_MIN, INT64_MAX / 2};
  const auto near = static_cast<std::int64_t>(static_cast<std::uint64_t>(value->integer) + (*random)() % 9 - 4);
  *value = JsonValue::of((*random)() % 4 ? near : pick(kEdges, random));
}

void erase_or_repeat(JsonValue* list, Random* random) {
  if (!list->items.empty()) {
    const std::size_t at = (*random)() % list->items.size();
    if ((*random)() % 2) {
      list->items.erase(list->items.begin() + static_cast<long>(at));
    } else {
      list->items.push_back(JsonValue(list->items[at]));
    }
  } else if (!list->members.empty()) {
    const std::size_t at = (*random)() % list->members.size();
    if ((*random)() % 2) {
      list->members.erase(list->members.begin() + static_cast<long>(at));
    } else {
      mutate_text(&list->members[at].key, random);
    }
  }
}

void mutate_tree(JsonValue* root, Random* random) {
  std::vector<JsonValue*> nodes;
  collect(root, &nodes);
  JsonValue* const node = pick(nodes, random);
  switch ((*random)() % 6) {
    case 0: *node = JsonValue(*pick(nodes, random)); return;
    case 1: std::swap(node->kind, pick(nodes, random)->kind); return;
    case 2: *node = JsonValue::of(pick(fuzz_words(), random)); return;
    default: break;
  }
  if (node->is(JsonValue::Kind::kString)) {
    mutate_text(&node->text, random);
  } else if (node->is_number()) {
    mutate_number(node, random);
  } else {
    erase_or_repeat(node, random);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  const Result<JsonDocument> document = parse_json(std::string(reinterpret_cast<const char*>(data), size), "f");
  if (!document) return LLVMFuzzerMutate(data, size, most);
  JsonValue root = document->root;
  for (unsigned i = 1 + random() % 3; i > 0; --i) mutate_tree(&root, &random);
  const std::string text = write_json(root);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
