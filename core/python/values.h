// Values between Python and the dispatcher: dtype, device, layout, memory_format and Size as Python has them; boxed values and back.
#pragma once
#include <nanobind/nanobind.h>

#include "core/dispatch/schema.h"
#include "core/ops/types.h"

namespace peel::core::python {

namespace nb = nanobind;

struct DType { ScalarType type; };
struct LayoutName { Layout layout; };
struct FormatName { MemoryFormat format; };
struct StorageHolder { Ref<Storage> storage; };  // torch.UntypedStorage stands on it

/// The classes, their one object per dtype, layout and format, and `_set_classes`, by which Python hands over its own (Size, Tensor).
void bind_values(nb::module_&);
nb::object dtype_object(ScalarType);
nb::object layout_object(Layout);
nb::object size_object(Sizes);


/// `not part of the embedded engine`: NotImplemented, with the sentence that names the way out.
[[noreturn]] void missing(const std::string& what);

/// Numbers as operators take them; false for anything else. 0-dimensional tensors that need no grad count as numbers.
bool to_scalar(nb::handle, IValue*);
bool is_index(nb::handle);  // an int, not a bool
/// A sequence of ints; false for anything else.
bool to_ints(nb::handle, SizeVector*);

/// By what the value is. Containers of tensors and numbers; Error for what no operator can take.
IValue box(nb::handle);
/// By the type that the schema gives it.
nb::object unbox(const IValue&, const Type&);
/// The results of an operator: None, one value, or a tuple with the schema's names.
nb::object unbox_results(const Stack&, const std::vector<Argument>& returns, const std::string& name);

/// Error for a text that names none.
Device device_named(const std::string&);
/// Raises for a device that the engine has no tensors on; for a GPU as a build of PyTorch without CUDA does.
void require_device(Device);
/// Of new tensors where none is named.
Device default_device();

}  // namespace peel::core::python
