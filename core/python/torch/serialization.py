"""torch.save and torch.load: PyTorch's files (a zip archive of one pickle and a member for each storage), which go both ways."""
import collections
import io
import os
import pickle
import zipfile

from . import _utils, storage
from ._missing import missing


class _Pickler(pickle.Pickler):
    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = []  # (address, bytes), as numbered

    def persistent_id(self, what):
        if not isinstance(what, storage.TypedStorage):
            return None
        memory = what.untyped()
        known = next((i for i, other in enumerate(self.storages) if other._same_as(memory)), len(self.storages))
        if known == len(self.storages):
            self.storages.append(memory)
        return "storage", storage.class_of(what.dtype), str(known), "cpu", what.size()


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True):
    if not _use_new_zipfile_serialization:
        missing("torch.save in the old format")
    name = "archive"
    if isinstance(f, (str, os.PathLike)):
        name = os.path.splitext(os.path.basename(os.fspath(f)))[0] or name
        folder = os.path.dirname(os.path.abspath(os.fspath(f)))
        if not os.path.isdir(folder):
            raise RuntimeError("Parent directory %s does not exist." % (os.path.dirname(os.fspath(f)) or folder))
        with open(f, "wb") as file:
            return _write(obj, file, name, pickle_protocol)
    return _write(obj, f, name, pickle_protocol)


def _write(obj, file, name, protocol):
    pickled = io.BytesIO()
    pickler = _Pickler(pickled, protocol)
    pickler.dump(obj)
    # Every member begins at a multiple of 64 bytes, as in PyTorch's own files.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        def member(path, data):
            info = zipfile.ZipInfo("%s/%s" % (name, path))
            start = archive.fp.tell() + 30 + len(info.filename)
            pad = -(start + 4) % 64
            info.extra = b"FB" + pad.to_bytes(2, "little") + b"Z" * pad
            archive.writestr(info, data)
        member("data.pkl", pickled.getvalue())
        member(".format_version", "1")
        member(".storage_alignment", "64")
        member("byteorder", "little")
        for i, memory in enumerate(pickler.storages):
            member("data/%d" % i, memory._bytes())
        member("version", "3\n")


_SAFE = {("collections", "OrderedDict"): collections.OrderedDict, ("builtins", "set"): set, ("builtins", "complex"): complex, ("__builtin__", "set"): set}


def _known(module, name):
    """What weights may be made of; None: something else."""
    import torch
    if (module, name) in _SAFE:
        return _SAFE[module, name]
    if module == "torch._utils" and name in ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_parameter"):
        return getattr(_utils, name)
    if module == "torch" and (name in storage.CLASSES or name == "Size" or isinstance(getattr(torch._C, name, None), torch.dtype)):
        return getattr(torch, name)
    return None


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    if map_location is not None and str(map_location) != "cpu":
        missing("torch.load(map_location=%r)" % (map_location,))
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _read(file, weights_only is not False)
    return _read(f, weights_only is not False)


def _read(file, only_weights):
    if not zipfile.is_zipfile(file):
        missing("torch.load of a file that is no zip archive")
    with zipfile.ZipFile(file) as archive:
        top = next((n.rpartition("/")[0] for n in archive.namelist() if n.endswith("data.pkl")), None)
        if top is None:
            raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
        storages = {}

        class Unpickler(pickle.Unpickler):
            def find_class(self, module, name):
                found = _known(module, name)
                if found is not None:
                    return found
                if only_weights:
                    raise pickle.UnpicklingError("Weights only load failed. Unsupported global: GLOBAL %s.%s was not an allowed global by default." % (module, name))
                return super().find_class(module, name)

            def persistent_load(self, saved):
                _, kind, key, _, numel = saved
                if key not in storages:
                    storages[key] = storage._from_bytes(archive.read("%s/data/%s" % (top, key)))
                return kind(wrap_storage=storages[key])
        return Unpickler(io.BytesIO(archive.read(top + "/data.pkl"))).load()
