import collections.abc

from ... import _C
from ..._missing import missing
from ...autograd.profiler import record_function
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, fresh_seed


def get_worker_info():
    return None  # the loader's work is done by the process itself


def default_collate(batch):
    """A batch out of examples."""
    first = batch[0]
    if isinstance(first, _C.TensorBase):
        return _C._VariableFunctions.stack(batch, 0)
    if type(first).__module__ == "numpy":
        from ... import as_tensor
        if type(first).__name__ == "ndarray":
            return default_collate([as_tensor(b) for b in batch])
        return as_tensor(batch)
    if isinstance(first, float):
        return _C.tensor(batch, dtype=_C.float64)
    if isinstance(first, int):
        return _C.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, collections.abc.Mapping):
        return type(first)({key: default_collate([b[key] for b in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(part) for part in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(b) != len(first) for b in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch)]
        return parts if isinstance(first, tuple) else type(first)(parts)
    raise TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found %s" % type(first))


class _Endless(Sampler):
    def __iter__(self):
        while True:
            yield None


class DataLoader:
    def __class_getitem__(cls, kind):
        return cls

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0,
                 worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if num_workers > 0:
            missing("DataLoader(num_workers=%d)" % num_workers)
        self._iterable = isinstance(dataset, IterableDataset)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = _Endless() if self._iterable else RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last, self.sampler, self.batch_sampler = dataset, batch_size, drop_last, sampler, batch_sampler
        self.num_workers, self.generator, self.pin_memory, self.timeout = num_workers, generator, pin_memory, timeout
        self.collate_fn = collate_fn or (default_collate if batch_sampler is not None else default_convert)
        self.worker_init_fn, self.persistent_workers, self.prefetch_factor = worker_init_fn, persistent_workers, prefetch_factor

    def __iter__(self):
        return _Batches(self)

    def __len__(self):
        if self._iterable:
            n = len(self.dataset)
            return n if self.batch_size is None else n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def default_convert(data):
    """NumPy's arrays as tensors, wherever they are."""
    kind = type(data)
    if isinstance(data, _C.TensorBase):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        from ... import as_tensor
        return data if kind.__name__ == "ndarray" and data.dtype.kind in "SaUO" else as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return kind({key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return kind([default_convert(d) for d in data])
    return data


class _Batches:
    def __init__(self, loader):
        self._loader = loader
        self._order = iter(loader.sampler if loader.batch_sampler is None else loader.batch_sampler)
        fresh_seed(loader.generator)  # PyTorch's seed for workers: drawn without any as well
        self._examples = iter(loader.dataset) if loader._iterable else None
        self._ended = False

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._loader)

    def __next__(self):
        with record_function("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            return self._next_data()

    def _next_data(self):
        loader, index = self._loader, next(self._order)
        batched = loader.batch_sampler is not None
        if self._examples is not None:
            if self._ended:
                raise StopIteration
            if not batched:
                return loader.collate_fn(next(self._examples))
            data = []
            for _ in index:
                try:
                    data.append(next(self._examples))
                except StopIteration:
                    self._ended = True
                    break
            if not data or (loader.drop_last and len(data) < len(index)):
                raise StopIteration
        elif not batched:
            data = loader.dataset[index]
        elif callable(getattr(loader.dataset, "__getitems__", None)):
            data = loader.dataset.__getitems__(index)
        else:
            data = [loader.dataset[i] for i in index]
        return loader.collate_fn(data)
