"""Conway's game of life as a circular convolution, with a glider and a random soup."""
import torch
import torch.nn.functional as F

KERNEL = torch.tensor([[1, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=torch.float32).view(1, 1, 3, 3)


def step(board):
    padded = F.pad(board[None, None].float(), (1, 1, 1, 1), mode="circular")
    neighbours = F.conv2d(padded, KERNEL)[0, 0].round().int()
    return (neighbours == 3) | (board & (neighbours == 2))


def step_roll(board):
    total = torch.zeros_like(board, dtype=torch.int)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                total += torch.roll(board, (dy, dx), dims=(0, 1)).int()
    return (total == 3) | (board & (total == 2))


def show(board):
    for row in board:
        print("".join("#" if c else "." for c in row))


glider = torch.zeros(8, 8, dtype=torch.bool)
for y, x in [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]:
    glider[y, x] = True

b = glider.clone()
show(b)
for _ in range(4):
    b = step(b)
print("after 4 generations")
show(b)
print("moved by (1, 1):", torch.equal(b, torch.roll(glider, (1, 1), (0, 1))))

torch.manual_seed(42)
soup = torch.rand(20, 20) < 0.35
a, c = soup.clone(), soup.clone()
counts = []
for _ in range(30):
    a, c = step(a), step_roll(c)
    counts.append(int(a.sum()))
print("both implementations agree:", torch.equal(a, c))
print("population", counts[::5])
