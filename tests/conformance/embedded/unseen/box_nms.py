# Object detection helpers in plain tensors: box conversion, IoU matrix, NMS, matching, average precision.
import torch


def xywh_to_xyxy(b):
    cx, cy, w, h = b.unbind(-1)
    return torch.stack((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2), dim=-1)


def box_area(b):
    return (b[..., 2] - b[..., 0]).clamp(min=0) * (b[..., 3] - b[..., 1]).clamp(min=0)


def box_iou(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp_(min=0)
    inter = wh.prod(-1)
    return inter / (box_area(a)[:, None] + box_area(b)[None] - inter)


def nms(boxes, scores, thr=0.5):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        if order.numel() == 1:
            break
        iou = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][iou <= thr]
    return torch.as_tensor(keep, dtype=torch.long)


def giou_loss(p, t):
    iou = torch.diagonal(box_iou(p, t))
    hull = torch.cat([torch.minimum(p[:, :2], t[:, :2]), torch.maximum(p[:, 2:], t[:, 2:])], 1)
    inter = iou * (box_area(p) + box_area(t)) / (1 + iou)
    union = box_area(p) + box_area(t) - inter
    return (1 - (iou - (box_area(hull) - union) / box_area(hull))).mean()


def average_precision(tp, n_gt):
    tp_c = tp.cumsum(0)
    prec = tp_c / torch.arange(1, len(tp) + 1)
    rec = tp_c / n_gt
    prec = prec.flip(0).cummax(0).values.flip(0)
    rec = torch.cat([torch.zeros(1), rec])
    return ((rec[1:] - rec[:-1]) * prec).sum()


torch.manual_seed(9)
gt = xywh_to_xyxy(torch.tensor([[10., 10., 8., 8.], [25., 12., 10., 6.], [18., 28., 6., 12.]]))
# two jittered detections per ground truth plus noise
det = gt.repeat(2, 1) + torch.randn(6, 4) * 0.8
noise = xywh_to_xyxy(torch.cat([torch.rand(3, 2) * 30, torch.rand(3, 2) * 5 + 3], 1))
boxes = torch.vstack([det, noise])
scores = torch.cat([torch.rand(6) * 0.5 + 0.5, torch.rand(3) * 0.6])
print("areas:", box_area(gt))
iou = box_iou(boxes, gt)
print("iou:\n", iou)

for thr in (0.3, 0.8):
    print(f"nms {thr}:", nms(boxes, scores, thr).tolist())

keep = nms(boxes, scores, 0.5)
best, which = box_iou(boxes[keep], gt).max(dim=1)
taken = torch.zeros(len(gt), dtype=torch.bool)
tp = torch.zeros(len(keep))
for k in range(len(keep)):
    if best[k] > 0.5 and not taken[which[k]]:
        taken[which[k]] = True
        tp[k] = 1.0
print("tp:", tp, "AP %.4f" % average_precision(tp, len(gt)).item())
print("all found:", taken.all().item(), "any score > .95:", torch.any(scores > 0.95).item())

# regress boxes with the GIoU loss
p = (gt + torch.tensor([2.0, -1.5, 3.0, 1.0])).requires_grad_()
opt = torch.optim.SGD([p], lr=3.0)
for i in range(7):
    loss = giou_loss(p, gt)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 2 == 0:
        print(f"giou loss {loss.item():.4f}")
print("clipped:", p.detach().clamp(0, 30).round().int())
print("lexsort by class then score:", torch.argsort(torch.tensor([2, 0, 1, 0]) * 10 - torch.tensor([3, 1, 2, 4]), stable=True))
