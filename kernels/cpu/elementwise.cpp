#include "kernels/cpu/elementwise.h"

#include <algorithm>

#include "ops_generated/ops.h"

namespace peel::kernels {

void no_kernel_for(const char* op, ScalarType t) {
  // What stock computes with and few kernels here do.
  if (is_complex(t) || t == ScalarType::Short || t == ScalarType::Char || t == ScalarType::Byte) {
    throw NotImplemented(std::string("The embedded engine has no ") + op + " for " + python_name(t) + " yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  throw NotImplemented(std::string("\"") + op + "\" not implemented for '" + to_string(t) + "'");
}

Operand as_operand(const Tensor& t) {
  using S = Operand::Strength;
  return {t.impl().wrapped_number ? S::kNumber : t.dim() == 0 ? S::kZeroDimensional : S::kTensor, t.dtype()};
}

Tensor wrapped(const Scalar& s) {
  using Tag = IValue::Tag;
  const Tag tag = s.value.tag();
  Tensor t = empty({}, tag == Tag::kBool ? ScalarType::Bool : tag == Tag::kInt ? ScalarType::Long : tag == Tag::kComplex ? ScalarType::ComplexDouble : ScalarType::Double);
  if (tag == Tag::kBool) *t.data_as<bool>() = s.value.to_bool();
  else if (tag == Tag::kInt) *t.data_as<int64_t>() = s.value.to_int();
  else if (tag == Tag::kComplex) *t.data_as<std::complex<double>>() = s.value.to_complex();
  else *t.data_as<double>() = s.value.to_double();
  t.impl().wrapped_number = true;
  return t;
}

void check_no_overlap(const Tensor& t) {
  if (internal_overlap(t.sizes(), t.strides()) == Overlap::kYes) {
    throw Error("unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor "
                "before performing the operation.");
  }
}

void check_no_partial_overlap(const Tensor& written, const Tensor& read) {
  if (written.is_same(read) || !(written.impl().storage == read.impl().storage)) return;
  const auto geometry = [](const Tensor& t) { return Geometry{{t.sizes().begin(), t.sizes().end()}, {t.strides().begin(), t.strides().end()}}; };
  if (shared_memory(geometry(written), written.storage_offset(), geometry(read), read.storage_offset()) == SharedMemory::kPartial) {
    throw Error("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please clone() "
                "the tensor before performing the operation.");
  }
}

Tensor allocated(Sizes shape, Sizes strides, ScalarType t, Device d) {
  return std::ranges::equal(strides, contiguous_strides(shape)) ? ops::empty_memory_format::call(shape, t, Layout::Strided, d)
                                                                : ops::empty_strided::call(shape, strides, t, Layout::Strided, d);
}

std::string cpp_name(ScalarType t) {
  switch (t) {
    case ScalarType::Double: return "double";
    case ScalarType::Long: return "long";
    case ScalarType::Int: return "int";
    case ScalarType::Bool: return "bool";
    case ScalarType::BFloat16: return "c10::BFloat16";
    case ScalarType::Half: return "c10::Half";
    default: return "float";
  }
}
void reshape_out(const Tensor& out, Sizes shape) {
  TensorImpl& impl = out.impl();
  const size_t bytes = storage_bytes(shape, element_size(impl.dtype));
  if (bytes > impl.storage->bytes()) impl.storage->resize(bytes);
  impl.sizes.assign(shape.begin(), shape.end());
  impl.strides = contiguous_strides(shape);
  impl.offset = 0;
}

Tensor& write_into(Tensor& out, const Tensor& value) {
  if (!can_cast(value.dtype(), out.dtype())) {
    throw Error(std::string("result type ") + to_string(value.dtype()) + " can't be cast to the desired output type " + to_string(out.dtype()));
  }
  if (!std::ranges::equal(out.sizes(), value.sizes())) {
    reshape_out(out, value.sizes());
    if (!std::ranges::equal(out.strides(), value.strides())) ops::as_strided_::call(out, value.sizes(), value.strides(), {});
  }
  copy_elements(out, value);
  return out;
}

Tensor& write_over(Tensor& self, const Tensor& value) {
  check_no_overlap(self);
  if (!can_cast(value.dtype(), self.dtype())) {
    throw Error(std::string("result type ") + to_string(value.dtype()) + " can't be cast to the desired output type " + to_string(self.dtype()));
  }
  if (!std::ranges::equal(self.sizes(), value.sizes())) {
    throw Error("output with shape " + to_text(self.sizes()) + " doesn't match the broadcast shape " + to_text(value.sizes()));
  }
  copy_elements(self, value);
  return self;
}

Elementwise::Elementwise(std::vector<Tensor> operands, Tensor out, Plan plan) : operands_(std::move(operands)), target_(std::move(out)) {
  SizeVector shape(operands_[0].sizes().begin(), operands_[0].sizes().end());
  std::vector<Operand> types;
  for (const Tensor& t : operands_) {
    shape = broadcast(shape, t.sizes());
    types.push_back(as_operand(t));
  }
  type_ = result_type(types);
  if (plan.want == Want::kFloating && !is_floating(type_) && !is_complex(type_)) type_ = default_dtype();
  if (target_.defined()) {
    check_no_overlap(target_);
    for (const Tensor& t : operands_) check_no_partial_overlap(target_, t);
    if (!std::ranges::equal(target_.sizes(), shape)) {
      throw Error("output with shape " + to_text(target_.sizes()) + " doesn't match the broadcast shape " + to_text(shape));
    }
    const ScalarType given = plan.result.value_or(type_);
    if (!can_cast(given, target_.dtype())) {
      throw Error(std::string("result type ") + to_string(given) + " can't be cast to the desired output type " + to_string(target_.dtype()));
    }
    out_ = target_.dtype() == given ? target_ : ops::empty_like::call(target_, given, {}, {}, {}, MemoryFormat::Contiguous);
  }
  const auto on_meta = std::ranges::find_if(operands_, [](const Tensor& t) { return t.keys().has(DispatchKey::Meta); });
  const bool meta = on_meta != operands_.end();
  const Device device = meta ? on_meta->device() : operands_[0].device();
  for (Tensor& t : operands_) {
    if (t.dtype() != type_ && !meta) t = ops::to_dtype::call(t, type_);
  }
  if (out_.defined()) return;
  std::vector<Geometry> given;  // with the strides that the casts gave
  for (const Tensor& t : operands_) given.push_back({{t.sizes().begin(), t.sizes().end()}, {t.strides().begin(), t.strides().end()}});
  const SizeVector strides = elementwise_strides(given, shape);
  const ScalarType made = plan.result.value_or(type_);
  out_ = plan.allocates_by_call ? allocated(shape, strides, made, device) : empty_strided(shape, strides, made, device);
}

Tensor Elementwise::finish() {
  if (!target_.defined()) return out_;
  if (!out_.is_same(target_)) ops::copy_::call(target_, out_);
  return target_;
}

}  // namespace peel::kernels
