# Checkpointing helper: save and restore model, optimizer, EMA weights and RNG state through a BytesIO buffer.
import copy
import io
import torch
import torch.nn as nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)


def build():
    model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.25), nn.Linear(16, 1))
    opt = torch.optim.AdamW([
        {"params": [p for n, p in model.named_parameters() if p.ndim > 1], "weight_decay": 0.1},
        {"params": [p for n, p in model.named_parameters() if p.ndim == 1], "weight_decay": 0.0, "lr": 0.02},
    ], lr=0.01)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
    return model, opt, sched, EMA(model)


def train(model, opt, sched, ema, steps):
    losses = []
    model.train()
    for _ in range(steps):
        x = torch.randn(12, 4)
        loss = nn.functional.smooth_l1_loss(model(x), x.prod(dim=1, keepdim=True))
        opt.zero_grad(); loss.backward()
        opt.step(); sched.step(); ema.update(model)
        losses.append(round(loss.item(), 4))
    return losses


torch.manual_seed(99)
model, opt, sched, ema = build()
print("first:", train(model, opt, sched, ema, 4))

buf = io.BytesIO()
torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(),
            "ema": ema.shadow.state_dict(), "rng": torch.get_rng_state()}, buf)
print("continued:", train(model, opt, sched, ema, 4), sched.get_last_lr())

buf.seek(0)
ckpt = torch.load(buf, weights_only=True)
model2, opt2, sched2, ema2 = build()
print(model2.load_state_dict(ckpt["model"]))
for obj, key in ((opt2, "opt"), (sched2, "sched"), (ema2.shadow, "ema")):
    obj.load_state_dict(ckpt[key])
torch.set_rng_state(ckpt["rng"])
print("resumed:  ", train(model2, opt2, sched2, ema2, 4), sched2.get_last_lr())
print("identical:", all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), model2.state_dict().values())))
for k, v in model.state_dict().items():
    print(f"{k:22s} {str(tuple(v.shape)):10s} {v.dtype}")
print("ema drift: %.4f" % sum((a - b).norm() for a, b in zip(ema.shadow.parameters(), model.parameters())).item())

partial = {k: v for k, v in ckpt["model"].items() if not k.startswith("4.")}
print(model2.load_state_dict(partial, strict=False))
try:
    nn.Linear(4, 2).load_state_dict({"weight": torch.zeros(3, 4), "bias": torch.zeros(2)})
except RuntimeError as e:
    print(str(e).replace("\t", " "))
