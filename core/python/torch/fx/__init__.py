"""torch.fx: a function's operations as a graph that can be read, changed and run."""
from .._missing import attribute
from . import immutable_collections  # noqa: F401
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap  # noqa: F401
from .graph import CodeGen, Graph  # noqa: F401
from .graph_module import GraphModule  # noqa: F401
from .interpreter import Interpreter, Transformer  # noqa: F401
from .node import Node, has_side_effect, map_arg  # noqa: F401
from .proxy import Proxy  # noqa: F401
from .subgraph_rewriter import replace_pattern  # noqa: F401
from . import experimental, passes  # noqa: E402,F401

__all__ = ["symbolic_trace", "Tracer", "wrap", "Graph", "GraphModule", "Interpreter", "Transformer", "Node", "Proxy", "replace_pattern", "has_side_effect", "map_arg"]
__getattr__ = attribute("torch.fx")
