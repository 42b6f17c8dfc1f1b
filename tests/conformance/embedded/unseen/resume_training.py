# Save a checkpoint to a temporary folder, resume, and verify that training continues identically.
import os
import tempfile
import torch
import torch.nn as nn


class Regressor(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.hidden = hidden
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.Softplus(), nn.Linear(hidden, 1))
        self.register_buffer("steps_seen", torch.tensor(0))

    def forward(self, x):
        if self.training:
            self.steps_seen += 1
        return self.net(x)


def build():
    model = Regressor()
    opt = torch.optim.Adam(model.parameters(), lr=0.03, amsgrad=True)
    sch = torch.optim.lr_scheduler.StepLR(opt, 4, 0.5)
    return model, opt, sch


def train(model, opt, sch, X, y, start, stop):
    out = []
    for ep in range(start, stop):
        noise = 0.05 * torch.randn_like(X)
        loss = nn.functional.mse_loss(model(X + noise), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sch.step()
        out.append(round(loss.item(), 4))
    return out


torch.manual_seed(404)
X = torch.rand(30, 3)
y = (X ** 2).sum(1, keepdim=True)

model, opt, sch = build()
first = train(model, opt, sch, X, y, 0, 6)
print("first :", first)

with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "ckpt.pt")
    torch.save({"epoch": 6, "model": model.state_dict(), "opt": opt.state_dict(),
                "sch": sch.state_dict(), "rng": torch.get_rng_state()}, path)
    direct = train(model, opt, sch, X, y, 6, 12)

    torch.manual_seed(1)                      # a different life
    model2, opt2, sch2 = build()
    ck = torch.load(path, map_location="cpu", weights_only=True)
    print("keys  :", list(ck))
    print(model2.load_state_dict(ck["model"]))
    opt2.load_state_dict(ck["opt"])
    sch2.load_state_dict(ck["sch"])
    torch.set_rng_state(ck["rng"])
    resumed = train(model2, opt2, sch2, X, y, ck["epoch"], 12)

    print("direct:", direct)
    print("resume:", resumed)
    print("identical:", direct == resumed,
          all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), model2.state_dict().values())))

    for k, v in model2.state_dict().items():
        print(f"  {k:14s} {tuple(v.shape)} {v.dtype}")

    # mismatches
    try:
        Regressor(hidden=5).load_state_dict(ck["model"])
    except RuntimeError as e:
        print("load error:", e)
    partial = {k: v for k, v in ck["model"].items() if not k.startswith("net.2")}
    partial["extra.weight"] = torch.zeros(1)
    res = Regressor().load_state_dict(partial, strict=False)
    print("missing:", res.missing_keys, "unexpected:", res.unexpected_keys)

    torch.save([torch.arange(3), {"a": torch.eye(2, dtype=torch.int8)}], os.path.join(tmp, "misc.pt"))
    misc = torch.load(os.path.join(tmp, "misc.pt"))
    print("misc:", misc)
    print("files:", sorted(os.listdir(tmp)))

state = opt2.state_dict()
print("lr now:", state["param_groups"][0]["lr"], "state keys:", sorted(state["state"][0]), "step:", state["state"][0]["step"])
