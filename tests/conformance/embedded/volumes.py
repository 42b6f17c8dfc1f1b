"""A classifier of small volumes: convolutions, pooling and normalization in three dimensions, and back to the volumes' size."""
import torch
from torch import nn

torch.manual_seed(3)
encoder = nn.Sequential(nn.Conv3d(1, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(4, 6, 2, groups=2), nn.Dropout3d(0.25), nn.AdaptiveAvgPool3d(1),
                        nn.Flatten())
head = nn.Linear(6, 2)
decoder = nn.Sequential(nn.Unflatten(1, (6, 1, 1, 1)), nn.ConvTranspose3d(6, 3, 2), nn.LeakyReLU(), nn.ConvTranspose3d(3, 1, 4, stride=2, padding=1))
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters(), *decoder.parameters()], lr=0.02)
x, y = torch.randn(4, 1, 4, 4, 4), torch.tensor([0, 1, 0, 1])
x[y == 1, :, :2] += 2
for step in range(4):
    features = encoder(x)
    loss = nn.functional.cross_entropy(head(features), y) + 0.1 * nn.functional.mse_loss(decoder(features), nn.functional.avg_pool3d(x, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
encoder.eval()
print(head(encoder(x)).argmax(1), decoder(encoder(x)).shape)
one = torch.randn(1, 2, 3, 3, dtype=torch.float64, requires_grad=True)
largest, places = nn.AdaptiveMaxPool3d((1, 2, 2), return_indices=True)(one.unsqueeze(0))
print(places.tolist(), torch.autograd.grad(largest.sum(), one)[0].sum().item(), nn.AvgPool3d(2, 1, 1, count_include_pad=False)(one).shape)
