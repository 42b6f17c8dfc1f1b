"""A transformer's encoder and decoder layers in training, without dropout; a mask; the layer normed first."""
import torch
from torch import nn

torch.manual_seed(6)
layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, dropout=0.0, batch_first=True)
x = torch.randn(2, 4, 8)
loss = layer(x).pow(2).mean()
loss.backward()
print(loss.item(), layer.self_attn.out_proj.weight.grad.norm().item())
first = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, activation="gelu", norm_first=True)
print(first(torch.randn(4, 2, 8), src_mask=nn.Transformer.generate_square_subsequent_mask(4)).sum().item())
decoder = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
out = decoder(x, torch.randn(2, 5, 8))
out.sum().backward()
print(out.shape, decoder.multihead_attn.in_proj_weight.grad.shape)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2)
print(encoder(x).std().item())
