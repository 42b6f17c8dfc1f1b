"""An nn.TransformerEncoder trained for 20 steps with AdamW."""
import torch
from torch import nn

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(d_model=16, nhead=2, dim_feedforward=32, dropout=0.1, batch_first=True)
encoder = nn.TransformerEncoder(layer, num_layers=2)
embed, head = nn.Embedding(20, 16), nn.Linear(16, 20)
parameters = [p for m in (embed, encoder, head) for p in m.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=1e-2)
mask = nn.Transformer.generate_square_subsequent_mask(6)
tokens = torch.randint(0, 20, (4, 7))

for step in range(20):
    optimizer.zero_grad(set_to_none=True)
    out = head(encoder(embed(tokens[:, :-1]), mask=mask, is_causal=True))
    loss = nn.functional.cross_entropy(out.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    print(step, loss.item().hex())
