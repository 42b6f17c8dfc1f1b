# Pairwise IoU, box format conversion and a plain greedy NMS without torchvision.
import numpy as np
import torch


def cxcywh_to_xyxy(b):
    cx, cy, w, h = b.unbind(-1)
    return torch.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], dim=-1)


def box_area(b):
    return (b[:, 2] - b[:, 0]).clamp(min=0) * (b[:, 3] - b[:, 1]).clamp(min=0)


def box_iou(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp_(min=0)
    inter = wh[..., 0] * wh[..., 1]
    union = box_area(a)[:, None] + box_area(b)[None] - inter
    return inter / union


def nms(boxes, scores, thr=0.5):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        if order.numel() == 1:
            break
        rest = order[1:]
        iou = box_iou(boxes[i].unsqueeze(0), boxes[rest]).squeeze(0)
        order = rest[iou <= thr]
    return torch.as_tensor(keep, dtype=torch.int64)


rng = np.random.RandomState(0)
raw = rng.uniform(10, 50, size=(12, 4)).astype(np.float32)
raw[6:, :2] = raw[:6, :2] + rng.randn(6, 2).astype(np.float32)   # near duplicates
raw[6:, 2:] = raw[:6, 2:]
boxes = cxcywh_to_xyxy(torch.from_numpy(raw))
scores = torch.from_numpy(rng.rand(12)).float()

iou = box_iou(boxes, boxes)
print("iou shape", tuple(iou.shape), "diag ok:", torch.allclose(iou.diagonal(), torch.ones(12)))
print(iou[:4, 6:10])
off = iou.masked_fill(torch.eye(12, dtype=torch.bool), 0)
best, arg = off.max(dim=1)
print("best partner:", arg.tolist())
print("best iou:", best.numpy().round(3))

for thr in (0.3, 0.5, 0.7):
    keep = nms(boxes, scores, thr)
    print(f"thr={thr}: keep {keep.tolist()}  scores {[round(s, 4) for s in scores[keep].tolist()]}")

# per-class NMS with the offset trick
labels = torch.arange(12) % 3
offset = labels.to(boxes.dtype)[:, None] * (boxes.max() + 1)
keep = nms(boxes + offset, scores, 0.5)
print("batched:", keep, torch.bincount(labels[keep], minlength=3))
