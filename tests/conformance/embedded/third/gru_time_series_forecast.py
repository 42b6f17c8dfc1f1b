"""Forecast a seasonal time series with a GRU over sliding windows and roll the prediction forward."""
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader


class WindowDataset(Dataset):
    def __init__(self, series, window):
        self.series = series
        self.window = window

    def __len__(self):
        return len(self.series) - self.window

    def __getitem__(self, i):
        x = self.series[i:i + self.window].unsqueeze(-1)
        y = self.series[i + self.window].unsqueeze(-1)
        return x, y


class Forecaster(nn.Module):
    def __init__(self, hidden_size=16, num_layers=1):
        super().__init__()
        self.gru = nn.GRU(input_size=1, hidden_size=hidden_size, num_layers=num_layers, batch_first=True)
        self.linear = nn.Linear(hidden_size, 1)

    def forward(self, x):
        out, h = self.gru(x)
        return self.linear(out[:, -1, :])


def main():
    torch.manual_seed(101)
    t = torch.arange(160).float()
    series = torch.sin(2 * torch.pi * t / 12) + 0.01 * t + 0.05 * torch.randn(160)
    mean, std = series[:130].mean(), series[:130].std()
    scaled = (series - mean) / std
    window = 12
    train_data = WindowDataset(scaled[:130], window)
    test = scaled[130 - window:]
    print("train windows:", len(train_data), "test points:", len(test) - window)

    loader = DataLoader(train_data, batch_size=32, shuffle=True, drop_last=True)
    model = Forecaster()
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
    for epoch in range(20):
        losses = []
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        if (epoch + 1) % 5 == 0:
            print("Epoch [%d/20] loss %.4f lr %.4f" % (epoch + 1, sum(losses) / len(losses), scheduler.get_last_lr()[0]))

    model.eval()
    history = test[:window].clone()
    preds = []
    with torch.no_grad():
        for _ in range(12):
            nxt = model(history[-window:].view(1, window, 1)).squeeze()
            preds.append(nxt.item())
            history = torch.cat([history, nxt.view(1)])
    truth = test[window:window + 12]
    mae = (torch.tensor(preds) - truth).abs().mean() * std
    naive = (test[window - 1] - truth).abs().mean() * std
    print("MAE %.3f   naive MAE %.3f" % (mae, naive))
    print([f"{p * std.item() + mean.item():.2f}" for p in preds[:4]])


if __name__ == "__main__":
    main()
