// Machine descriptions as JSON: one table of fields per part, used for reading and writing alike.

#include "src/frontend/json.hpp"
#include "src/frontend/json_reader.hpp"

namespace facet {

namespace {

// A member of a machine part; exactly one pointer is set.
struct Field {
  const char* name;
  std::string* text = nullptr;
  int* whole = nullptr;
  std::int64_t* bytes = nullptr;
  double* real = nullptr;
};

Field field(const char* name, std::string* v) { return {name, v}; }
Field field(const char* name, int* v) { return {name, nullptr, v}; }
Field field(const char* name, std::int64_t* v) { return {name, nullptr, nullptr, v}; }
Field field(const char* name, double* v) { return {name, nullptr, nullptr, nullptr, v}; }

std::vector<Field> fields_of(CpuMachine* m) {
  return {field("name", &m->name),
          field("isa", &m->isa),
          field("march", &m->march),
          field("cores", &m->cores),
          field("vector_bytes", &m->vector_bytes),
          field("vector_registers", &m->vector_registers),
          field("fma_per_cycle", &m->fma_per_cycle),
          field("peak_f32_gflop_s", &m->peak_f32_gflop_s),
          field("copy_gb_s", &m->copy_gb_s),
          field("thread_start_us", &m->thread_start_us),
          field("load_cost", &m->load_cost),
          field("tlb_pages", &m->tlb_pages),
          field("page_bytes", &m->page_bytes),
          field("page_walk_ns", &m->page_walk_ns)};
}

std::vector<Field> fields_of(CacheLevel* c) {
  return {field("size_bytes", &c->size_bytes), field("line_bytes", &c->line_bytes),
          field("shared_by_cores", &c->shared_by_cores), field("associativity", &c->associativity),
          field("read_gb_s", &c->read_gb_s)};
}

std::vector<Field> fields_of(GpuMachine* m) {
  return {field("name", &m->name),
          field("compute_major", &m->compute_major),
          field("compute_minor", &m->compute_minor),
          field("multiprocessors", &m->multiprocessors),
          field("warp", &m->warp),
          field("max_threads_per_block", &m->max_threads_per_block),
          field("max_registers_per_thread", &m->max_registers_per_thread),
          field("registers_per_multiprocessor", &m->registers_per_multiprocessor),
          field("shared_bytes_per_block", &m->shared_bytes_per_block),
          field("shared_bytes_opt_in", &m->shared_bytes_opt_in),
          field("max_grid_x", &m->max_grid_x),
          field("max_grid_y", &m->max_grid_y),
          field("max_grid_z", &m->max_grid_z),
          field("copy_gb_s", &m->copy_gb_s),
          field("peak_f32_gflop_s", &m->peak_f32_gflop_s)};
}

void read_fields(const JsonValue& v, const std::string& what, const std::vector<Field>& fields,
                 const std::vector<std::string>& more, JsonReader* json) {
  std::vector<std::string> names = more;
  for (const Field& f : fields) names.push_back(f.name);
  if (!json->fields(v, what, {}, names)) return;
  for (const Field& f : fields) {
    const JsonValue* const m = v.find(f.name);
    if (!m) continue;
    const std::string label = "\"" + std::string(f.name) + "\"";
    if (f.text) *f.text = json->string(*m, label).value_or(*f.text);
    if (f.real) *f.real = json->number(*m, label).value_or(*f.real);
    if (!f.whole && !f.bytes) continue;
    const auto value = json->integer(*m, label);
    if (!value) continue;
    if (*value < 0 || (f.whole && *value > 2147483647)) {
      json->complain(Code::kWrongType, *m, {label, "a count that is not negative and fits", std::to_string(*value)});
    } else if (f.whole) {
      *f.whole = static_cast<int>(*value);
    } else {
      *f.bytes = *value;
    }
  }
}

JsonValue fields_json(const std::vector<Field>& fields) {
  JsonValue out = JsonValue::object();
  for (const Field& f : fields)
    out.add(f.name, f.text    ? JsonValue::of(*f.text)
                    : f.whole ? JsonValue::of(*f.whole)
                    : f.bytes ? JsonValue::of(*f.bytes)
                              : JsonValue::of(*f.real));
  return out;
}

}  // namespace

Result<Machine> read_machine(const std::string& text, const std::string& file, const Machine& base) {
  const Result<JsonDocument> document = parse_json(text, file);
  if (!document) return document.errors();
  JsonReader json(*document);
  Machine machine = base;
  const JsonValue& root = document->root;
  if (json.fields(root, "a machine", {}, {"cpu", "gpu"})) {
    if (const JsonValue* cpu = root.find("cpu")) {
      read_fields(*cpu, "\"cpu\"", fields_of(&machine.cpu), {"caches"}, &json);
      if (const JsonValue* caches = cpu->find("caches"); caches && json.array(*caches, "\"caches\"")) {
        machine.cpu.caches.assign(caches->items.size(), CacheLevel{});
        for (std::size_t i = 0; i < caches->items.size(); ++i)
          read_fields(caches->items[i], "a cache level", fields_of(&machine.cpu.caches[i]), {}, &json);
      }
    }
    if (const JsonValue* gpu = root.find("gpu")) read_fields(*gpu, "\"gpu\"", fields_of(&machine.gpu), {}, &json);
  }
  if (!json.clean()) return json.take();
  return machine;
}

std::string to_json(const Machine& machine) {
  Machine m = machine;  // the field tables point into it
  JsonValue caches = JsonValue::array();
  for (CacheLevel& c : m.cpu.caches) caches.items.push_back(fields_json(fields_of(&c)));
  JsonValue out = JsonValue::object();
  out.add("cpu", fields_json(fields_of(&m.cpu)).add("caches", std::move(caches))).add("gpu", fields_json(fields_of(&m.gpu)));
  return write_json(out);
}

}  // namespace facet
