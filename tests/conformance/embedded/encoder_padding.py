"""Transformer encoders in evaluation on padded sequences: without gradients they go through nested tensors, else with masks; attention alone with masks."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8))
x = torch.randn(3, 5, 8)
lengths = torch.tensor([5, 3, 1])
padding = torch.arange(5) >= lengths[:, None]
encoder.eval()
with torch.no_grad():
    y = encoder(x, src_key_padding_mask=padding)
    print(y.shape, y[0, 0], y[1, 3:].abs().sum())
    gaps = torch.tensor([[False, True, False, True, True]] * 3)
    print(encoder(x, src_key_padding_mask=gaps)[0, 0])
    print(encoder(x)[0, 0])
    late = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True), 1, enable_nested_tensor=False).eval()
    print(late(x, src_key_padding_mask=padding)[1, 0])
z = encoder(x, src_key_padding_mask=padding)
print(torch.allclose(y[1, :3], z[1, :3], atol=1e-5), z.requires_grad)
encoder.train()
encoder(x, src_key_padding_mask=padding).sum().backward()
print(sum(p.grad.abs().sum() > 0 for p in encoder.parameters()))

attention = nn.MultiheadAttention(8, 2, batch_first=True).eval()
causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
with torch.inference_mode():
    for mask, pad in ((causal, None), (None, padding), (causal, padding)):
        out, weights = attention(x, x, x, attn_mask=mask, key_padding_mask=pad)
        print(out[0, 0].round(decimals=3), weights[0, 1])
