"""vmap of many operators, with the batch in the first and in another dimension of each argument: every rule by which an operator is batched."""
import warnings

import torch
import torch.nn.functional as F
from torch.func import vmap

warnings.filterwarnings("ignore", message=".*batching rule")
torch.manual_seed(12)
A = torch.ops.aten
L = torch.linalg
VIEWS = [lambda x: x.view(4, -1), lambda x: x.reshape(-1), lambda x: x.unsqueeze(0), lambda x: x.unsqueeze(-1), lambda x: x[:1].squeeze(0), lambda x: x[:1].squeeze(), lambda x: x[1],
         lambda x: x[1:3], lambda x: x.transpose(0, 1), lambda x: x.t(), lambda x: x.permute(1, 0), lambda x: x.expand(2, *x.shape), lambda x: x[:, :1].expand(-1, 6),
         lambda x: x.diagonal(), lambda x: x.flip(0), lambda x: x.roll(1, 0), lambda x: x.roll(1), lambda x: x.tril(), lambda x: x.triu(1), lambda x: x.repeat(2, 1), lambda x: x.repeat(2, 1, 1),
         lambda x: x.unfold(0, 2, 1), lambda x: torch.cat([x, x * 2]), lambda x: torch.cat([x, torch.ones(1, 4)]), lambda x: torch.stack([x, x], 1),
         lambda x: torch.stack([x[0], torch.ones(4)]), lambda x: x.split(2), lambda x: x.split([1, 3]), lambda x: x.chunk(2, 1), lambda x: x.unbind(0), lambda x: x.contiguous(),
         lambda x: x.clone(memory_format=torch.contiguous_format), lambda x: x.clone().unsqueeze_(0), lambda x: x.clone().transpose_(0, 1), lambda x: x.clone()[:1].squeeze_(0),
         lambda x: x.clone().t_(), lambda x: x.diag_embed(), lambda x: x.diag(), lambda x: x.as_strided((2, 2), (1, 1)), lambda x: x.movedim(0, 1), lambda x: x.flatten(),
         lambda x: x.narrow(0, 1, 2), lambda x: x.new_zeros(2), lambda x: x.new_full((2,), 3.0), lambda x: torch.zeros_like(x), lambda x: torch.full_like(x, 2.0), lambda x: x.double(),
         lambda x: F.pad(x, (1, 1)), lambda x: x.tensor_split(2), lambda x: x.unflatten(0, (2, 2)), lambda x: x.diff(), lambda x: torch.rot90(x)]
REDUCTIONS = [lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.sum((0, 1)), lambda x: x.mean(), lambda x: x.mean(-1, keepdim=True), lambda x: x.max(), lambda x: x.max(1), lambda x: x.min(0)[1],
              lambda x: x.amax(), lambda x: x.amin(0), lambda x: x.argmax(), lambda x: x.argmin(-1), lambda x: x.prod(), lambda x: x.prod(0), lambda x: (x > 0).any(), lambda x: (x > 0).all(0),
              lambda x: x.var(), lambda x: x.var(0), lambda x: x.std(), lambda x: torch.var_mean(x, 0), lambda x: x.norm(), lambda x: L.vector_norm(x, dim=0), lambda x: L.matrix_norm(x),
              lambda x: x.logsumexp(0), lambda x: x.cumsum(0), lambda x: x.cumprod(1), lambda x: x.softmax(-1), lambda x: x.log_softmax(0), lambda x: x.topk(2), lambda x: x.sort(),
              lambda x: x.median(), lambda x: x.median(1), lambda x: x.nansum(), lambda x: torch.count_nonzero(x), lambda x: x.trace(),
              lambda x: x[0, 0].sum(0), lambda x: x[0, 0].softmax(0), lambda x: F.normalize(x, dim=0), lambda x: F.glu(x), lambda x: x.cummax(0)]
POINTWISE = [lambda x, y: x * y, lambda x, y: x + y[0], lambda x, y: x[0] - y, lambda x, y: x / y, lambda x, y: x[0, 0] * y, lambda x, y: x[0, 0] * y.long(), lambda x, y: x < y, lambda x, y: x[0, 0] == y,
             lambda x, y: torch.where(x > 0, x, y), lambda x, y: torch.where(x > 0, x, 0.0), lambda x, y: x.clamp(0, 1), lambda x, y: x ** 2, lambda x, y: x.abs() ** y, lambda x, y: torch.maximum(x[0], y),
             lambda x, y: torch.addcmul(x, y, y[0]), lambda x, y: torch.lerp(x, y, 0.5), lambda x, y: x.masked_fill(y > 0, 0.5), lambda x, y: x.clone().masked_fill_(y > 0, 0.5), lambda x, y: x.clone().add_(y[0]),
             lambda x, y: x.clone().mul_(2), lambda x, y: x.clone().copy_(y[0]), lambda x, y: x.clone().fill_(2), lambda x, y: x.clone().zero_(), lambda x, y: torch.atan2(x, y), lambda x, y: x.clone().clamp_(0, 1),
             lambda x, y: torch.logical_and(x > 0, y > 0), lambda x, y: 2 - x, lambda x, y: 1 / y, lambda x, y: x.exp_().tanh() + y.sigmoid_(), lambda x, y: F.gelu(x) + F.silu(y), lambda x, y: torch.outer(x[0], y[0]),
             lambda x, y: A.tanh_backward(x, y), lambda x, y: A._softmax_backward_data(x, y, -1, torch.float32), lambda x, y: torch.cdist(x, y), lambda x, y: F.cosine_similarity(x, y, dim=0),
             lambda x, y: F.pairwise_distance(x, y), lambda x, y: torch.addr(x, x[:, 0], y[0]), lambda x, y: F.kl_div(x, y), lambda x, y: x.slice_scatter(y[:2], 0, 1, 3), lambda x, y: L.cross(x[:, :3], y[:, :3])]
PRODUCTS = [lambda x, y: x.mm(y), lambda x, y: x @ y[0], lambda x, y: x[0] @ y, lambda x, y: x[0].dot(y[0]), lambda x, y: torch.addmm(y, x, y), lambda x, y: torch.addmv(y[0], x, y[0]), lambda x, y: F.linear(x, y),
            lambda x, y: F.linear(x, y, y[0]), lambda x, y: F.linear(x[0], y, y[0]), lambda x, y: x[None].bmm(y[None]), lambda x, y: torch.baddbmm(x[None], x[None], y[None]), lambda x, y: x[None] @ y,
            lambda x, y: torch.einsum("ij,kj->ik", x, y), lambda x, y: F.scaled_dot_product_attention(x[None], y[None], y[None]), lambda x, y: L.inv(x + 3 * torch.eye(4)), lambda x, y: L.det(x), lambda x, y: L.solve(x, y[0]),
            lambda x, y: L.solve(x, y), lambda x, y: L.solve_triangular(x, y, upper=True), lambda x, y: L.slogdet(x), lambda x, y: torch.addbmm(x, x[None], y[None])]
INDICES = [lambda x, i: x[i], lambda x, i: x[:, i], lambda x, i: x[i, i], lambda x, i: x[None, i], lambda x, i: x[i[0]], lambda x, i: x.gather(1, i[None].expand(4, 2)), lambda x, i: x[0].gather(0, i[0]),
           lambda x, i: x.scatter(1, i[None].expand(4, 2), x[:, :2]), lambda x, i: x.scatter(1, i[None].expand(4, 2), 2.0), lambda x, i: x.scatter_add(1, i[None].expand(4, 2), x[:, :2]),
           lambda x, i: x.index_select(1, i), lambda x, i: torch.index_put(x, (i,), x[:2]), lambda x, i: torch.index_put(x, (i, i), x[0, :2]), lambda x, i: x.clone().index_put_((i,), torch.tensor(1.0)),
           lambda x, i: F.one_hot(i, 4), lambda x, i: F.embedding(i, x), lambda x, i: A.embedding_dense_backward(x[:2], i, 5, -1, False), lambda x, i: F.nll_loss(x[:2], i), lambda x, i: F.cross_entropy(x[:2], i),
           lambda x, i: F.cross_entropy(x[:2], i, weight=torch.ones(4)), lambda x, i: F.cross_entropy(x[:2], i, label_smoothing=0.1), lambda x, i: x.index_add(0, torch.tensor([0, 1]), x[:2]),
           lambda x, i: x.index_copy(0, torch.tensor([0, 1]), x[:2]), lambda x, i: x.index_fill(0, torch.tensor([0, 1]), 2.0), lambda x, i: x[torch.tensor([0, 1])], lambda x, i: x[torch.tensor([0, 1]), :],
           lambda x, i: x.index_select(0, torch.tensor([1, 0])), lambda x, i: i.bincount(minlength=4), lambda x, i: x.take_along_dim(i[None], 1)]
LOSSES = [F.mse_loss, lambda x, y: F.mse_loss(x, y, reduction="none"), lambda x, y: F.mse_loss(x, y, reduction="sum"), F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits,
          lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid()), lambda x, y: A.mse_loss_backward(x[0, 0], x, y, 1), lambda x, y: A.smooth_l1_loss_backward(x[0, 0], x, y, 1, 1.0),
          lambda x, y: A.huber_loss_backward(x[0, 0], x, y, 1, 1.0), lambda x, y: A.binary_cross_entropy_backward(x[0, 0], x.sigmoid(), y.sigmoid(), None, 1), lambda x, y: F.layer_norm(x, (4,), y[0], y[1]),
          lambda x, y: F.layer_norm(x, (4,)), lambda x, y: F.batch_norm(x, None, None, y[0], y[1], training=True), lambda x, y: F.batch_norm(x, y[0], y[1].abs()),
          lambda x, y: A.native_layer_norm_backward(x, y, [4], y.mean(-1, keepdim=True), y.mean(-1, keepdim=True), x[0], x[0], [True, True, True]), lambda x, y: F.instance_norm(x[None, :, :])]
IMAGES = [lambda x: F.conv2d(x, torch.ones(2, 4, 3, 3), torch.ones(2)), lambda x: F.conv2d(x[0], torch.ones(2, 4, 3, 3)), lambda x: F.max_pool2d(x, 2), lambda x: F.max_pool2d(x.contiguous()[0], 2), lambda x: F.avg_pool2d(x, 2),
          lambda x: F.adaptive_avg_pool2d(x, 2), lambda x: F.interpolate(x, scale_factor=2), lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
          lambda x: F.conv2d(x, x[:, :, :3, :3]), lambda x: F.conv2d(torch.ones(1, 4, 6, 6), x[:, :, :3, :3]), lambda x: F.batch_norm(x, None, None, training=True),
          lambda x: A.avg_pool2d_backward(x[:, :, :3, :3].contiguous(), x, [2, 2], [2, 2], [0, 0], False, True, None), lambda x: F.conv1d(x[0], torch.ones(2, 6, 3)), lambda x: F.pixel_shuffle(x, 2), lambda x: F.unfold(x, 2),
          lambda x: A.convolution_backward(x[:, :2, :4, :4], x, torch.ones(2, 4, 3, 3), [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True]),
          lambda x: A.convolution_backward(x[:, :2, :4, :4], torch.ones(2, 4, 6, 6), torch.ones(2, 4, 3, 3), [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True]),
          lambda x: A.convolution_backward(x[:, :2, :4, :4], x, x[:, :, :3, :3], [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True]),
          lambda x: A.upsample_nearest2d_backward(x, [6, 6], [2, 4, 3, 3], None, None), lambda x: F.group_norm(x, 2, x[0, :, 0, 0], x[0, :, 0, 1])]


def told(out):
    leaves = out if isinstance(out, (tuple, list)) else [out]
    return [(tuple(t.shape), str(t.dtype), round(t.double().nan_to_num(0, 0, 0).sum().item(), 3) + 0.0) for t in leaves]


def run(name, functions, *inputs):
    for number, f in enumerate(functions):
        for dim in (0, 1):
            given = [x.clone() if dim == 0 else x.movedim(0, 1).contiguous() for x in inputs]
            try:
                print(name, number, dim, told(vmap(f, in_dims=dim)(*given)))
            except Exception as e:
                print(name, number, dim, type(e).__name__, str(e).split("\n")[0][:200])


x, y = torch.randn(3, 4, 4), torch.randn(3, 4, 4)
run("view", VIEWS, x)
run("reduction", REDUCTIONS, x)
run("pointwise", POINTWISE, x, y)
run("product", PRODUCTS, x, y)
run("index", INDICES, x, torch.randint(0, 4, (3, 2)))
run("loss", LOSSES, x, y)
run("image", IMAGES, torch.randn(3, 2, 4, 6, 6))
for f, dims in ((lambda x, y: x.mm(y), (0, None)), (lambda x, y: x.mm(y), (None, 0)), (lambda x, y: x.mv(y[0]), (0, None)), (lambda x, y: x.mv(y[0]), (None, 0)), (lambda x, y: x[0].dot(y[0]), (None, 0)),
                (lambda x, y: x * y, (0, None)), (lambda x, y: x.clone().add_(y), (0, None)), (lambda x, y: torch.cat([x, y]), (None, 0)), (lambda x, y: F.linear(x, y, y[0]), (0, None)),
                (lambda x, y: F.linear(x, y, y[0]), (None, 0)), (lambda x, y: torch.solve if False else L.solve(x, y), (0, None)), (lambda x, y: F.mse_loss(x, y), (0, None)),
                (lambda x, y: x[(y > 0).long()[0]], (None, 0)), (lambda x, y: x.gather(1, (y > 0).long()), (None, 0)), (lambda x, y: F.layer_norm(x, (4,), y[0]), (0, None))):
    print(dims, told(vmap(f, in_dims=dims)(x if dims[0] == 0 else x[0], y if dims[1] == 0 else y[0])))
