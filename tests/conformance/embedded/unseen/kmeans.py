"""k-means with broadcasting, no module at all."""
import torch

torch.manual_seed(2)
points = torch.cat([torch.randn(10, 2) + 3, torch.randn(10, 2) - 3])
centers = points[torch.randperm(20)[:2]].clone()
for step in range(4):
    distances = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(-1).sqrt()
    assignment = distances.argmin(dim=1)
    for k in range(2):
        mask = assignment == k
        if mask.any():
            centers[k] = points[mask].mean(dim=0)
    print(step, assignment.tolist(), distances.min(dim=1).values.sum().item())
print(centers)
print(torch.cdist(points, centers).argmin(1).equal(assignment))
