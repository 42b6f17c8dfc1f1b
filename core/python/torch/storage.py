"""Storages: the memory of tensors, without a type and as PyTorch's files name it."""
from . import _C

_TYPES = {"Float": _C.float32, "Double": _C.float64, "Half": _C.float16, "BFloat16": _C.bfloat16, "Long": _C.int64, "Int": _C.int32, "Short": _C.int16, "Char": _C.int8,
          "Byte": _C.uint8, "Bool": _C.bool, "ComplexFloat": _C.complex64, "ComplexDouble": _C.complex128}


class UntypedStorage(_C.StorageBase):
    device = _C.device("cpu")

    def __init__(self, size=0):
        super().__init__(size)

    @classmethod
    def of(cls, tensor):
        made = cls()
        made._adopt(tensor)
        return made

    def size(self):
        return self.nbytes()

    __len__ = size

    def clone(self):
        made = UntypedStorage(self.nbytes())
        made._copy(self)
        return made

    def tolist(self):
        return list(self._bytes())

    def __reduce__(self):
        return _from_bytes, (self._bytes(),)


def _from_bytes(data):
    made = UntypedStorage(len(data))
    made._fill_bytes(data)
    return made


class TypedStorage:
    """A storage seen as elements of one type."""
    dtype = None

    def __init__(self, *, wrap_storage=None, dtype=None):
        self._untyped_storage = UntypedStorage() if wrap_storage is None else wrap_storage
        self.dtype = dtype or type(self).dtype

    def untyped(self):
        return self._untyped_storage

    def nbytes(self):
        return self._untyped_storage.nbytes()

    def size(self):
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def data_ptr(self):
        return self._untyped_storage.data_ptr()

    def _tensor(self):
        return _C._VariableFunctions.empty((0,), dtype=self.dtype).set_(self._untyped_storage, 0, (self.size(),), (1,))

    def tolist(self):
        return self._tensor().tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, i):
        return self.tolist()[i]

    def __repr__(self):
        return "\n".join(" " + str(v) for v in self.tolist()) + "\n[torch.storage.TypedStorage(dtype=%s, device=cpu) of size %d]" % (self.dtype, self.size())


def class_of(dtype):
    return CLASSES[next(name for name, type in _TYPES.items() if type is dtype) + "Storage"]


CLASSES = {name + "Storage": type(name + "Storage", (TypedStorage,), {"dtype": dtype, "__module__": "torch"}) for name, dtype in _TYPES.items()}
