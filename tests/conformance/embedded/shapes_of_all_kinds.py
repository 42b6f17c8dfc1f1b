"""Joining, tiling, splitting, turning."""
import torch

x = torch.arange(6).view(2, 3)
print(torch.cat([x, x], dim=1), torch.stack([x, x]).shape, torch.hstack([x, x]).shape, torch.vstack([x, x]).shape, torch.column_stack([x[0], x[1]]))
print(x.repeat(2, 2), x.tile(2), x.repeat_interleave(2), x.repeat_interleave(2, dim=0), x.expand(2, 2, 3).shape)
print(torch.split(torch.arange(5), 2), torch.chunk(x, 3, dim=1), torch.tensor_split(torch.arange(7), 3), torch.split(torch.arange(6), [1, 5]), x.unbind(1))
print(x.flip(0), torch.fliplr(x), torch.flipud(x), torch.roll(x, 1, 1), x.T, x.permute(1, 0), x.transpose(0, 1).contiguous().view(-1), x.moveaxis(0, 1).shape)
print(x.reshape(3, -1), x.flatten(), x.unsqueeze(0).squeeze(), x.view(1, 2, 1, 3).squeeze().shape, torch.atleast_2d(torch.tensor(1.0)), x.unflatten(1, (3, 1)).shape)
print(torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")[0], torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4])))
print(torch.diag(torch.tensor([1, 2])), torch.diag(torch.ones(2, 2)), torch.ones(3, 3).tril(), torch.ones(2, 2).triu(1), torch.trace(torch.eye(3)), torch.diff(torch.tensor([1, 4, 9])))
