"""Knowledge distillation: a small student learns from the softened outputs of a larger teacher."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def spirals(n_per_class, classes=3, noise=0.15):
    xs, ys = [], []
    for c in range(classes):
        r = torch.linspace(0.1, 1, n_per_class)
        t = torch.linspace(c * 2.1, c * 2.1 + 3.0, n_per_class) + noise * torch.randn(n_per_class)
        xs.append(torch.stack([r * t.sin(), r * t.cos()], 1))
        ys.append(torch.full((n_per_class,), c))
    return torch.cat(xs), torch.cat(ys)


def mlp(width, depth):
    layers, d = [], 2
    for _ in range(depth):
        layers += [nn.Linear(d, width), nn.ReLU()]
        d = width
    return nn.Sequential(*layers, nn.Linear(d, 3))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def distillation_loss(student_logits, teacher_logits, labels, T=3.0, alpha=0.7):
    soft = F.kl_div(F.log_softmax(student_logits / T, dim=1),
                    F.softmax(teacher_logits / T, dim=1), reduction="batchmean") * T * T
    hard = F.cross_entropy(student_logits, labels)
    return alpha * soft + (1 - alpha) * hard


torch.manual_seed(1)
xtr, ytr = spirals(100)
xte, yte = spirals(60)
teacher = mlp(64, 2)
opt = torch.optim.Adam(teacher.parameters(), lr=0.01)
for _ in range(120):
    opt.zero_grad()
    F.cross_entropy(teacher(xtr), ytr).backward()
    opt.step()
print("teacher accuracy %.3f" % accuracy(teacher, xte, yte))

for mode in ("hard labels", "distilled"):
    torch.manual_seed(2)
    student = mlp(8, 1)
    opt = torch.optim.Adam(student.parameters(), lr=0.02)
    for _ in range(150):
        logits = student(xtr)
        if mode == "distilled":
            with torch.no_grad():
                t = teacher(xtr)
            loss = distillation_loss(logits, t, ytr)
        else:
            loss = F.cross_entropy(logits, ytr)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("student (%s): loss %.3f test accuracy %.2f" % (mode, loss.item(), accuracy(student, xte, yte)))
print("sizes:", sum(p.numel() for p in teacher.parameters()), "vs", sum(p.numel() for p in student.parameters()))
