"""Passes for inference."""
import copy

from torch import fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

from ..._missing import attribute


def _parent_name(target):
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern, node, modules):
    """Whether a node and the one before it call modules of these two types."""
    if not node.args:
        return False
    return all(isinstance(n, fx.Node) and n.op == "call_module" and n.target in modules and type(modules[n.target]) is kind for kind, n in zip(pattern, (node.args[0], node)))


def replace_node_module(node, modules, new_module):
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model, inplace=False, no_trace=False):
    """Batch norms folded into the layers before them."""
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for first, second in ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d), (nn.Linear, nn.BatchNorm1d)):
        for node in graph.nodes:
            if not matches_module_pattern((first, second), node, modules) or len(node.args[0].users) > 1 or not modules[node.target].track_running_stats:
                continue
            layer, norm = modules[node.args[0].target], modules[node.target]
            replace_node_module(node.args[0], modules, fuse_linear_bn_eval(layer, norm) if first is nn.Linear else fuse_conv_bn_eval(layer, norm))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return fx.GraphModule(traced, graph)


class _WithoutDropout(fx.Transformer):
    def call_module(self, target, args, kwargs):
        return args[0] if isinstance(self.submodules[target], nn.Dropout) else super().call_module(target, args, kwargs)


def remove_dropout(model):
    return _WithoutDropout(fx.symbolic_trace(model)).transform()


__getattr__ = attribute("torch.fx.experimental.optimization")
