"""Language models, built from configurations; every dropout is 0."""

from typing import Any

import torch
import transformers
from torch.nn.functional import cross_entropy

from models import Task

IGNORED = -100


def _tokens(batch: int, length: int, vocabulary: int) -> torch.Tensor:
    return torch.randint(0, vocabulary, (batch, length))


def _next_token(tokens: torch.Tensor) -> Any:
    def loss(output: Any) -> torch.Tensor:
        logits = output.logits[:, :-1].float()
        return cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    return loss


def _masked_token(labels: torch.Tensor) -> Any:
    def loss(output: Any) -> torch.Tensor:
        logits = output.logits.float()
        return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)

    return loss


def _padding(batch: int, length: int) -> torch.Tensor:
    """Rows of different lengths: 1 for a token, 0 behind the end."""
    ends = torch.linspace(length // 2, length, batch).long()
    return (torch.arange(length) < ends[:, None]).long()


def gpt2(tiny: bool) -> Task:
    batch, length, vocabulary = (3, 19, 97) if tiny else (2, 256, 16384)
    config = transformers.GPT2Config(
        vocab_size=vocabulary,
        n_positions=length,
        n_embd=48 if tiny else 512,
        n_layer=2 if tiny else 6,
        n_head=4 if tiny else 8,
        resid_pdrop=0,
        embd_pdrop=0,
        attn_pdrop=0,
        use_cache=False,
        bos_token_id=0,
        eos_token_id=0,
    )
    tokens = _tokens(batch, length, vocabulary)
    model = transformers.GPT2LMHeadModel(config)
    return Task("gpt2", model, {"input_ids": tokens}, _next_token(tokens))


def bert(tiny: bool) -> Task:
    batch, length, vocabulary = (3, 19, 97) if tiny else (4, 128, 16384)
    config = transformers.BertConfig(
        vocab_size=vocabulary,
        hidden_size=48 if tiny else 512,
        num_hidden_layers=2 if tiny else 6,
        num_attention_heads=4 if tiny else 8,
        intermediate_size=96 if tiny else 2048,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    tokens, mask = _tokens(batch, length, vocabulary), _padding(batch, length)
    labels = torch.where((torch.rand(batch, length) < 0.3) & mask.bool(), tokens, IGNORED)
    inputs = {"input_ids": tokens, "attention_mask": mask}
    return Task("bert", transformers.BertForMaskedLM(config), inputs, _masked_token(labels))


def llama(tiny: bool) -> Task:
    batch, length, vocabulary = (3, 19, 97) if tiny else (2, 256, 16384)
    config = transformers.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=48 if tiny else 512,
        num_hidden_layers=2 if tiny else 6,
        num_attention_heads=4 if tiny else 8,
        num_key_value_heads=2,
        intermediate_size=80 if tiny else 1408,
        use_cache=False,
    )
    tokens = _tokens(batch, length, vocabulary)
    model = transformers.LlamaForCausalLM(config)
    return Task("llama", model, {"input_ids": tokens}, _next_token(tokens))


def t5(tiny: bool) -> Task:
    batch, vocabulary = (3, 97) if tiny else (4, 16384)
    source_length, target_length = (19, 11) if tiny else (128, 64)
    config = transformers.T5Config(
        vocab_size=vocabulary,
        d_model=48 if tiny else 512,
        d_kv=12 if tiny else 64,
        d_ff=96 if tiny else 1024,
        num_layers=2 if tiny else 4,
        num_decoder_layers=2 if tiny else 4,
        num_heads=4 if tiny else 8,
        dropout_rate=0,
        use_cache=False,
        decoder_start_token_id=0,
    )
    target = _tokens(batch, target_length, vocabulary)
    inputs = {
        "input_ids": _tokens(batch, source_length, vocabulary),
        "attention_mask": _padding(batch, source_length),
        "decoder_input_ids": target,
    }
    model = transformers.T5ForConditionalGeneration(config)
    return Task("t5", model, inputs, _next_token(target))


def mamba(tiny: bool) -> Task:
    batch, length, vocabulary = (3, 19, 97) if tiny else (4, 64, 8192)
    config = transformers.MambaConfig(
        vocab_size=vocabulary,
        hidden_size=48 if tiny else 384,
        num_hidden_layers=2 if tiny else 4,
        state_size=16,
        expand=2,
        conv_kernel=4,
        use_cache=False,
    )
    tokens = _tokens(batch, length, vocabulary)
    model = transformers.MambaForCausalLM(config)
    return Task("mamba", model, {"input_ids": tokens}, _next_token(tokens))
