# Tiny CNN on synthetic 8x8 "digits" with a Dataset, DataLoader, train and test loops.
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader, random_split

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


class BarsDataset(Dataset):
    """class 0: horizontal bar, 1: vertical bar, 2: diagonal, 3: filled square"""

    def __init__(self, n, transform=None):
        g = torch.Generator().manual_seed(42)
        self.labels = torch.randint(0, 4, (n,), generator=g)
        self.images = torch.rand(n, 1, 8, 8, generator=g) * 0.3
        pos = torch.randint(1, 6, (n,), generator=g)
        for i, (lab, p) in enumerate(zip(self.labels.tolist(), pos.tolist())):
            if lab == 0:
                self.images[i, 0, p, :] = 1.0
            elif lab == 1:
                self.images[i, 0, :, p] = 1.0
            elif lab == 2:
                self.images[i, 0] += torch.eye(8) * 0.8
            else:
                self.images[i, 0, p:p + 2, 2:6] = 1.0
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        img = self.images[idx]
        if self.transform:
            img = self.transform(img)
        return img, self.labels[idx]


ds = BarsDataset(64, transform=lambda im: (im - 0.3) / 0.35)
train_ds, test_ds = random_split(ds, [48, 16], generator=torch.Generator().manual_seed(1))
train_dl = DataLoader(train_ds, batch_size=16, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=16)

model = nn.Sequential(
    nn.Conv2d(1, 8, kernel_size=3, padding=1, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(inplace=True),
    nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1),
    nn.LeakyReLU(0.1),
    nn.AdaptiveAvgPool2d((2, 2)),
    nn.Flatten(),
    nn.Dropout(0.2),
    nn.Linear(64, 4),
).to(device)
print(model)

loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
opt = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(3):
    model.train()
    running = 0.0
    for xb, yb in train_dl:
        xb, yb = xb.to(device), yb.to(device)
        opt.zero_grad(set_to_none=True)
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item() * xb.size(0)
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            pred = model(xb.to(device)).argmax(dim=1)
            correct += (pred == yb.to(device)).sum().item()
            total += yb.numel()
    print(f"epoch {epoch + 1}: train loss {running / len(train_ds):.4f}  test acc {correct}/{total}")

print("bn running mean:", model[1].running_mean)
print("bn batches tracked:", model[1].num_batches_tracked.item())
