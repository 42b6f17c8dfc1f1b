"""Attention and the layers of transformers."""
import copy

from .. import _C
from .._missing import missing
from . import functional as F
from . import init
from .containers import ModuleList
from .layers import Dropout, LayerNorm, Linear, NonDynamicallyQuantizableLinear, _empty
from .module import Module
from .parameter import Parameter


class MultiheadAttention(Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError("embed_dim and num_heads must be greater than 0, got embed_dim=%s and num_heads=%s instead" % (embed_dim, num_heads))
        if add_bias_kv or add_zero_attn or kdim not in (None, embed_dim) or vdim not in (None, embed_dim):
            missing("nn.MultiheadAttention with add_bias_kv, add_zero_attn, kdim or vdim")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.in_proj_weight = Parameter(_empty(3 * embed_dim, embed_dim, device=device, dtype=dtype))
        self.register_parameter("in_proj_bias", Parameter(_empty(3 * embed_dim, device=device, dtype=dtype)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        init.xavier_uniform_(self.in_proj_weight)
        if bias:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False):
        batched = query.dim() == 3
        floats = any(m is not None and m.dtype.is_floating_point for m in (attn_mask, key_padding_mask))
        key_padding_mask = F._added_mask(key_padding_mask, query.dtype)
        attn_mask = F._added_mask(attn_mask, query.dtype)
        if not floats and batched and query is key is value and self.batch_first and not self.training and self.num_heads % 2 == 0 and self.in_proj_bias is not None:
            tensors = (query, key, value, self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)
            if not _C.is_grad_enabled() or not any(t.requires_grad for t in tensors):
                mask, kind = _merged_masks(self.num_heads, attn_mask, key_padding_mask, query)
                return _C._VariableFunctions._native_multi_head_attention(query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias,
                                                                          self.out_proj.weight, self.out_proj.bias, mask, need_weights, average_attn_weights, kind)
        turned = self.batch_first and batched
        if turned:
            if key is value:
                if query is key:
                    query = key = value = query.transpose(1, 0)
                else:
                    query, key = (x.transpose(1, 0) for x in (query, key))
                    value = key
            else:
                query, key, value = (x.transpose(1, 0) for x in (query, key, value))
        out, weights = F.multi_head_attention_forward(query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, None, None, False, self.dropout,
                                                      self.out_proj.weight, self.out_proj.bias, training=self.training, key_padding_mask=key_padding_mask,
                                                      need_weights=need_weights, attn_mask=attn_mask, average_attn_weights=average_attn_weights, is_causal=is_causal)
        return (out.transpose(1, 0) if turned else out), weights


def _activation(name):
    if name in ("relu", "gelu"):
        return getattr(F, name)
    if callable(name):
        return name
    raise RuntimeError("activation should be relu/gelu, not %s" % name)


def _fused(layer, src, mask, padding):
    """PyTorch's own call for a whole layer, where it takes it; else None."""
    attention = layer.self_attn
    tensors = (attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias)
    norms = (layer.norm1.weight, layer.norm1.bias, layer.norm2.weight, layer.norm2.bias)
    maps = (layer.linear1.weight, layer.linear1.bias, layer.linear2.weight, layer.linear2.bias)
    if src.dim() != 3 or not _may_fuse(layer, (src, *tensors, *norms, *maps)):
        return None
    return _C._VariableFunctions._transformer_encoder_layer_fwd(src, attention.embed_dim, attention.num_heads, *tensors, layer.activation is F.gelu, layer.norm_first,
                                                                layer.norm1.eps, *norms, *maps, *_merged_masks(attention.num_heads, mask, padding, src))


def _merged_masks(num_heads, mask, padding, query):
    """(one mask, its kind: of padding 1, of any pair of places 2) as PyTorch's own call wants it."""
    if mask is None:
        return padding, (None if padding is None else 1)
    batch, length, _ = query.shape
    mask = mask.view(batch, -1, length, length) if mask.dim() == 3 else mask.view(1, 1, length, length).expand(batch, num_heads, -1, -1)
    if padding is not None:
        mask = mask + padding.view(batch, 1, 1, length).expand(-1, num_heads, -1, -1)
    return mask, 2


def _may_fuse(layer, tensors):
    attention = layer.self_attn
    if layer.training or not attention.batch_first or attention.in_proj_bias is None or attention.num_heads % 2:
        return False
    if layer.activation not in (F.relu, F.gelu) or layer.norm1.eps != layer.norm2.eps or _C._is_autocast_cpu():
        return False
    return not (_C.is_grad_enabled() and any(t.requires_grad for t in tensors))


class TransformerEncoderLayer(Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None,
                 dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        src_key_padding_mask = F._added_mask(src_key_padding_mask, src.dtype)
        src_mask = F._added_mask(src_mask, src.dtype)
        fused = _fused(self, src, src_mask, src_key_padding_mask)
        if fused is not None:
            return fused
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        x = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal)[0]
        return self.dropout1(x)

    def _ff_block(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None,
                 dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **options)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        for i in (1, 2, 3):
            setattr(self, "norm%d" % i, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options))
        for i in (1, 2, 3):
            setattr(self, "dropout%d" % i, Dropout(dropout))
        self.activation = _activation(activation)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
        def attend(x):
            x = self.self_attn(x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask, is_causal=tgt_is_causal, need_weights=False)[0]
            return self.dropout1(x)

        def look(x):
            x = self.multihead_attn(x, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask, is_causal=memory_is_causal, need_weights=False)[0]
            return self.dropout2(x)

        def feed(x):
            return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        x = tgt
        if self.norm_first:
            x = x + attend(self.norm1(x))
            x = x + look(self.norm2(x))
            return x + feed(self.norm3(x))
        x = self.norm1(x + attend(x))
        x = self.norm2(x + look(x))
        return self.norm3(x + feed(x))


def _is_causal(mask, is_causal, size):
    """Whether it is the mask of what came before; asked of its values where nobody says."""
    if is_causal is None and mask is not None:
        usual = _square_mask(size, mask.device, mask.dtype)
        return bool((mask == usual).all()) if mask.size() == usual.size() else False
    return is_causal is True


def _square_mask(size, device=None, dtype=None):
    functions = _C._VariableFunctions
    full = functions.full((size, size), float("-inf"), dtype=dtype, device=device)
    return functions.triu(full, diagonal=1)


def _length(x, batch_first):
    return x.size(0) if x.dim() == 2 else x.size(1 if batch_first else 0)


def _why_not_nested(layer):
    """What of a layer keeps an encoder from nested tensors."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = ((layer.norm_first, ".norm_first was True"),
               (not attention.batch_first, ".self_attn.batch_first was not True(use batch_first for better inference performance)"),
               (attention.in_proj_bias is None, ".self_attn was passed bias=False"),
               (layer.activation not in (F.relu, F.gelu) and type(layer.activation).__name__ not in ("ReLU", "GELU"), ".activation_relu_or_gelu was not True"),
               (layer.norm1.eps != layer.norm2.eps, ".norm1.eps was not equal to encoder_layer.norm2.eps"),
               (attention.num_heads % 2 == 1, ".self_attn.num_heads is odd"))
    return next((why for applies, why in reasons if applies), "")


class TransformerEncoder(Module):
    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm, self.enable_nested_tensor, self.mask_check = num_layers, norm, enable_nested_tensor, mask_check
        why = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why
        if enable_nested_tensor and why:
            import warnings
            warnings.warn("enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer" + why, stacklevel=2)

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        src_key_padding_mask = F._added_mask(src_key_padding_mask, src.dtype)
        mask = F._added_mask(mask, src.dtype)
        first, out = self.layers[0], src
        nested = self._takes_nested(src, mask, src_key_padding_mask)
        if nested:
            out = _C._VariableFunctions._nested_tensor_from_mask(src, src_key_padding_mask.logical_not(), mask_check=False)
            src_key_padding_mask = None
        is_causal = _is_causal(mask, is_causal, _length(src, first.self_attn.batch_first))
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=is_causal, src_key_padding_mask=src_key_padding_mask)
        if nested:
            out = out.to_padded_tensor(0.0, src.size())
        return out if self.norm is None else self.norm(out)

    def _takes_nested(self, src, mask, padding):
        """Whether padded sequences go through the layers without what pads them, as in PyTorch; asks about the mask only where all before it speaks for it."""
        if not self.use_nested_tensor or self.layers[0].training or src.dim() != 3 or padding is None:
            return False
        if self.mask_check and not _C._VariableFunctions._nested_tensor_from_mask_left_aligned(src, padding.logical_not()):
            return False
        if src.is_nested or mask is not None:
            return False
        return not (_C.is_grad_enabled() and any(t.requires_grad for t in (src, *self.layers[0].parameters())))


class TransformerDecoder(Module):
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self.layers[0].self_attn.batch_first))
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
                        tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder = TransformerEncoder(TransformerEncoderLayer(*layer, **options), num_encoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options))
        self.decoder = TransformerDecoder(TransformerDecoderLayer(*layer, **options), num_decoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options))
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
                src_is_causal=None, tgt_is_causal=None, memory_is_causal=False):
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
                            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        return _square_mask(sz, device, dtype)
