// Memory of tensors under interpretation.
#include "src/run/reference/storage.hpp"

#include <algorithm>

namespace facet::reference {

std::unique_ptr<Storage> make_storage(const Tensor& tensor, const SymbolValues& symbols, bool lazy) {
  auto storage = std::make_unique<Storage>();
  storage->name = tensor.name;
  storage->dtype = tensor.dtype;
  storage->is_float = is_float(tensor.dtype);
  storage->extents = extents_of(tensor, symbols);
  storage->strides.resize(storage->extents.size());
  storage->count = 1;
  for (std::size_t d = storage->extents.size(); d-- > 0;) {
    storage->strides[d] = storage->count;
    storage->count *= std::max<std::int64_t>(storage->extents[d], 0);
  }
  if (lazy) return storage;
  const std::size_t count = static_cast<std::size_t>(storage->count);
  if (storage->is_float) {
    storage->floats.resize(count);
  } else {
    storage->ints.resize(count);
  }
  return storage;
}

void fill_from(Storage& storage, const HostTensor& values) {
  for (std::int64_t i = 0; i < storage.count; ++i)
    if (storage.is_float) {
      storage.floats[static_cast<std::size_t>(i)] = values.get(i);
    } else {
      storage.ints[static_cast<std::size_t>(i)] = values.get_int(i);
    }
}

}  // namespace facet::reference
