"""One layer of a transformer, forward and backward."""
import torch
from marks import mark

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).cuda()
for _ in range(3):
    x = torch.randn(4, 16, 64, device="cuda", requires_grad=True)
    layer(x).sum().backward()
    mark()
print(tuple(x.grad.shape))
