"""Encoders in evaluation: the fused layer with masks of any pair of places, of padding and both, GELU, normalisation first."""
import torch
torch.manual_seed(0)
from torch.nn import functional as F
def show(t): print(["%.3f" % v for v in t.flatten()[::7].tolist()])
for act in ("relu", "gelu"):
    for nf in (False, True):
        enc = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation=act, norm_first=nf), 2, enable_nested_tensor=False)
        enc.eval()
        x = torch.randn(2, 5, 8)
        pad = torch.zeros(2, 5, dtype=torch.bool); pad[1, 3:] = True
        m = torch.nn.Transformer.generate_square_subsequent_mask(5)
        with torch.no_grad():
            show(enc(x))
            show(enc(x, mask=m))
            show(enc(x, src_key_padding_mask=pad))
            show(enc(x, src_key_padding_mask=pad, mask=m))
            show(enc(x, mask=m < 0))
            show(enc(x, mask=m, is_causal=True))
