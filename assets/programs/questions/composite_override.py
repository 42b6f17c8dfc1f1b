"""A kernel is registered where a composite one stood: which slots of aten::tensor_split.indices change, and do they change back?"""
import torch


def split(x, indices, dim=0):
    return [x.narrow(dim, a, b - a) for a, b in zip([0, *indices], [*indices, x.size(dim)])]


x = torch.arange(6.0)
print(len(torch.tensor_split(x, (2, 4))))
lib = torch.library.Library("aten", "IMPL")
lib.impl("tensor_split.indices", split, "CPU")
print(len(torch.tensor_split(x, (2, 4))))
lib._destroy()
print(len(torch.tensor_split(x, (2, 4))))
