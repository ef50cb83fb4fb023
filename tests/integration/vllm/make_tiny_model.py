"""Make a random Qwen2 of 14.7 million parameters with a tokenizer of its own; nothing is downloaded.

Runs inside the environment of vLLM: `python make_tiny_model.py DIRECTORY`. 4 layers, 4 KV heads of 64:
4096 bytes of KV cache a token in bf16. The tokenizer is a byte-level BPE trained on the words that the load
client sends, cut so that a text counts about as many tokens as its client means it to have; the rest of the
vocabulary is filled up, so that whatever a random model generates is visible text.
"""

import importlib.util
import random
import sys
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

VOCABULARY = 2048
WANTED_TOKENS = 64
END = "<|end|>"
SIZES = range(300, 640, 20)
_WORDS = Path(__file__).parents[3] / "autotune" / "load" / "workload" / "words.py"


def texts() -> list[str]:
    """What the load client sends."""
    spec = importlib.util.spec_from_file_location("words", _WORDS)
    words = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(words)
    pool = words.WordPool(random.Random(1))
    return [pool.text_of(WANTED_TOKENS) for _ in range(200)]


def trained(corpus: list[str], size: int) -> ByteLevelBPETokenizer:
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(corpus, vocab_size=size, special_tokens=[END], show_progress=False)
    return tokenizer


def tokens_a_text(tokenizer: ByteLevelBPETokenizer, corpus: list[str]) -> float:
    return sum(len(tokenizer.encode(text).ids) for text in corpus) / len(corpus)


def make_tokenizer() -> tuple[PreTrainedTokenizerFast, int]:
    """The tokenizer, and how many of its tokens are single bytes or specials that no reply should show."""
    corpus = texts()
    best = min(
        (trained(corpus, size) for size in SIZES),
        key=lambda tokenizer: abs(tokens_a_text(tokenizer, corpus) - WANTED_TOKENS),
    )
    best.add_tokens([f" w{number}" for number in range(VOCABULARY - best.get_vocab_size())])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=best._tokenizer, eos_token=END, pad_token=END)
    return tokenizer, 257


def main(directory: Path) -> None:
    """Write model and tokenizer."""
    tokenizer, hidden_rows = make_tokenizer()
    torch.manual_seed(1)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=4096,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = Qwen2ForCausalLM(config).to(torch.bfloat16)
    with torch.no_grad():
        model.lm_head.weight[:hidden_rows] = 0  # greedy decoding never picks half a character
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    print(f"{directory}: {sum(p.numel() for p in model.parameters()) / 1e6:.1f} M parameters")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
