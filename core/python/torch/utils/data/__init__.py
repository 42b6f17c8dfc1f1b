"""Data sets, samplers and the loader of one process. Random numbers are drawn where PyTorch draws them, so a seed gives the same batches."""
from ..._missing import attribute, homes
from .dataset import ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset, random_split  # noqa: F401
from .loader import DataLoader, default_collate, default_convert, get_worker_info  # noqa: F401
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler  # noqa: F401

homes("torch.utils.data", {"dataloader": [DataLoader, default_collate, get_worker_info]})
__getattr__ = attribute("torch.utils.data")
