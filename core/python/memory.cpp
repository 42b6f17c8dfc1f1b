// Memory and random numbers as objects of Python: storages, memory that came from elsewhere (NumPy's arrays), generators.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "core/dispatch/error.h"
#include "core/python/call_by_name.h"
#include "core/python/tensor_methods.h"
#include "core/python/tensor_object.h"
#include "kernels/cpu/random.h"
#include "ops_generated/ops.h"

namespace peel::core::python {
namespace {

// Holds the object whose memory it is until the storage goes.
class Lender final : public Allocator {
 public:
  explicit Lender(nb::handle owner) : owner_(nb::borrow(owner)) {}
  void* allocate(size_t) override { return nullptr; }
  void release(void*, size_t) noexcept override {
    const nb::gil_scoped_acquire held;
    delete this;
  }

 private:
  nb::object owner_;
};

Tensor from_memory(uintptr_t address, const SizeVector& sizes, const SizeVector& strides, const DType& type, nb::handle owner) {
  int64_t reach = 1;
  for (size_t d = 0; d < sizes.size(); ++d) reach += (sizes[d] - 1) * strides[d];
  const size_t bytes = element_count(sizes) == 0 ? 0 : static_cast<size_t>(reach) * element_size(type.type);
  Ref<Storage> storage = make_ref<Storage>(reinterpret_cast<void*>(address), bytes, *new Lender(owner));
  return Tensor(Ref<KeyedObject>(make_ref<TensorImpl>(std::move(storage), DispatchKeySet(DispatchKey::CPU), type.type, sizes, strides, 0)));
}

// Bytes from one storage into another, in the calls that stock makes of it.
void copy_storage(const StorageHolder& to, const StorageHolder& from) {
  const auto look = [](const Ref<Storage>& s) {
    Tensor t = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Byte, {}, Device(), {}, {});
    return ops::set__source_Storage::call(t, s);
  };
  Tensor a = look(to.storage), b = look(from.storage);
  ops::copy_::call(a, b);
}


}  // namespace

void bind_memory(nb::module_& m) {
  nb::class_<StorageHolder>(m, "StorageBase")
      .def("__init__", [](StorageHolder* self, size_t bytes) { new (self) StorageHolder{make_ref<Storage>(bytes, Device(), heap_allocator())}; }, nb::arg("bytes") = 0)
      .def("nbytes", [](const StorageHolder& s) { return s.storage->bytes(); })
      .def("data_ptr", [](const StorageHolder& s) { return reinterpret_cast<uintptr_t>(s.storage->data()); })
      .def("_same_as", [](const StorageHolder& a, const StorageHolder& b) { return a.storage == b.storage; })
      .def("_adopt", [](StorageHolder& s, const Tensor& t) { s.storage = t.impl().storage; })
      .def("_bytes", [](const StorageHolder& s) { return nb::bytes(static_cast<const char*>(s.storage->data()), s.storage->bytes()); })
      .def("_fill_bytes", [](StorageHolder& s, nb::bytes data) {
        if (data.size() != s.storage->bytes()) throw Error("a storage of " + std::to_string(s.storage->bytes()) + " bytes can't take " + std::to_string(data.size()));
        if (data.size()) std::memcpy(s.storage->data(), data.c_str(), data.size());
      })
      .def("_resize", [](StorageHolder& s, size_t bytes) { s.storage->resize(bytes); })
      .def("_copy", &copy_storage);
  m.def("_from_memory", &from_memory);
  m.def("_lift", [](const Tensor& t) {
    static const NamedOperator<Tensor(const Tensor&)> lift("lift_fresh");
    return lift(t);
  });
  nb::class_<GeneratorHandle>(m, "GeneratorBase")
      .def("__init__", [](GeneratorHandle* self, bool the_default) {
        const auto seed = the_default ? std::optional<uint64_t>() : std::optional<uint64_t>(67280421310721u);
        new (self) GeneratorHandle(Ref<KeyedObject>(make_ref<kernels::GeneratorObject>(seed)));
      })
      .def("_set_seed", [](const GeneratorHandle& g, uint64_t seed) { kernels::chosen(g).seed(seed); })
      .def("_state", [](const GeneratorHandle& g, uint64_t seed) {
        const kernels::GeneratorState state = kernels::chosen(g).state(seed);
        Tensor t = empty(SizeVector{sizeof(state)}, ScalarType::Byte);
        std::memcpy(t.data_as<uint8_t>(), &state, sizeof(state));
        return t;
      })
      .def("_set_state", [](const GeneratorHandle& g, const Tensor& t) {
        kernels::GeneratorState state;
        if (t.numel() != sizeof(state)) {
          throw Error("Expected a CPUGeneratorImplState of size " + std::to_string(sizeof(state)) + " but found the input RNG state size to be " + std::to_string(t.numel()));
        }
        std::memcpy(&state, t.data_as<uint8_t>(), sizeof(state));
        kernels::chosen(g).set_state(state);
        return state.seed;
      })
      .def("_copy_from", [](const GeneratorHandle& g, const GeneratorHandle& other) { kernels::chosen(g) = kernels::chosen(other); });
}

}  // namespace peel::core::python
