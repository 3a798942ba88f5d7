"""A small character-level language model: numpy, gradients by hand, Adam.

Each character is predicted from the `context` characters before it: their embeddings side by side,
a hidden layer, a residual layer, a softmax (after Bengio et al., 2003).
"""

import ast
import hashlib
import math
import sysconfig
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


def read_text(source: str) -> str:
    """The training text in ASCII: `python-docs`, the prose that comes with Python, or the path of a
    text file.
    """
    text = (
        "\n".join(_python_docs())
        if source == "python-docs"
        else Path(source).read_text(encoding="utf-8")
    )
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def _python_docs() -> Iterator[str]:
    """The language reference behind `help()`; a Python that was built without it still has its
    docstrings.
    """
    try:
        from pydoc_data.topics import topics
    except ImportError:
        for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    yield ast.get_docstring(node) or ""
    else:
        yield from (topics[name] for name in sorted(topics))


class Batches:
    """Windows of `context` + `seq_len` characters, each once an epoch, in an order shuffled again
    every epoch.
    """

    def __init__(self, text: str, context: int, seq_len: int, batch_size: int, seed: int) -> None:
        codes, inverse = np.unique(
            np.frombuffer(text.encode("ascii"), np.uint8), return_inverse=True
        )
        self.digest = hashlib.sha256(text.encode("ascii")).hexdigest()
        self.vocabulary = len(codes)
        self._text = inverse.astype(np.int32)
        self._shape, self._seed = (batch_size, context + seq_len), seed
        self._starts = np.arange(0, len(text) - context - seq_len, seq_len)
        if len(self._starts) < batch_size:
            raise SystemExit(
                f"the text has {len(self._starts)} windows, and a batch needs {batch_size}"
            )
        self._rng = np.random.default_rng(seed)
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self._rng_state = self._rng.bit_generator.state
        self._order = self._rng.permutation(self._starts)
        self._position = 0

    def take(self) -> np.ndarray:
        """The next batch of character codes."""
        rows, width = self._shape
        if self._position + rows > len(self._order):
            self._begin_epoch()
        starts = self._order[self._position : self._position + rows]
        self._position += rows
        return self._text[starts[:, None] + np.arange(width)]

    def corrupt(self, step: int) -> np.ndarray:
        """What a broken data shard holds at this step: noise of the right shape."""
        return np.random.default_rng([self._seed, step]).integers(
            0, self.vocabulary, self._shape, np.int32
        )

    def state(self) -> dict[str, Any]:
        """The random state that this epoch began with, and how many of its windows are used up."""
        return {"rng": self._rng_state, "position": self._position, "text": self.digest}

    def restore(self, state: Mapping[str, Any]) -> None:
        if state["text"] != self.digest:
            raise SystemExit(
                "the checkpoint was trained on another text; use the same Python, or the same file"
            )
        self._rng.bit_generator.state = state["rng"]
        self._begin_epoch()
        self._position = state["position"]


class Model:
    def __init__(
        self, vocabulary: int, context: int, embed_size: int, hidden_size: int, seed: int
    ) -> None:
        self._context = context
        rng = np.random.default_rng(seed)

        def weights(rows: int, columns: int, scale: float) -> np.ndarray:
            return (rng.standard_normal((rows, columns)) * scale).astype(np.float32)

        self.parameters: Arrays = {
            "embed": weights(vocabulary, embed_size, 1),
            "hidden.w": weights(
                context * embed_size, hidden_size, math.sqrt(2 / (context * embed_size))
            ),
            "hidden.b": np.zeros(hidden_size, np.float32),
            "residual.w": weights(hidden_size, hidden_size, math.sqrt(1 / hidden_size)),
            "residual.b": np.zeros(hidden_size, np.float32),
            "output.w": weights(hidden_size, vocabulary, 0.5 / math.sqrt(hidden_size)),
            "output.b": np.zeros(vocabulary, np.float32),
        }

    def loss_and_gradients(self, batch: np.ndarray) -> tuple[float, Arrays]:
        """Mean cross-entropy in nats per character, and its gradient for each parameter."""
        p, inputs, targets = self.parameters, batch[:, :-1], batch[:, self._context :].ravel()
        x = self._windows(p["embed"][inputs])
        hidden_layer = np.maximum(x @ p["hidden.w"] + p["hidden.b"], 0)
        residual = np.maximum(hidden_layer @ p["residual.w"] + p["residual.b"], 0)
        features = hidden_layer + residual
        loss, d_logits = _cross_entropy(features @ p["output.w"] + p["output.b"], targets)
        d_features = d_logits @ p["output.w"].T
        d_residual = d_features * (residual > 0)
        d_hidden = (d_features + d_residual @ p["residual.w"].T) * (hidden_layer > 0)
        return loss, {
            "embed": self._embedding_gradient(inputs, d_hidden @ p["hidden.w"].T),
            "hidden.w": x.T @ d_hidden,
            "hidden.b": d_hidden.sum(axis=0),
            "residual.w": hidden_layer.T @ d_residual,
            "residual.b": d_residual.sum(axis=0),
            "output.w": features.T @ d_logits,
            "output.b": d_logits.sum(axis=0),
        }

    def _windows(self, embeddings: np.ndarray) -> np.ndarray:
        """(rows, width, embed) -> one line per predicted character: the embeddings of its
        context.
        """
        windows = np.lib.stride_tricks.sliding_window_view(embeddings, self._context, axis=1)
        return windows.transpose(0, 1, 3, 2).reshape(-1, self._context * embeddings.shape[2])

    def _embedding_gradient(self, inputs: np.ndarray, d_x: np.ndarray) -> np.ndarray:
        """Each character stood in up to `context` windows: sum over them, then over equal
        characters.
        """
        rows, width = inputs.shape
        d_windows = d_x.reshape(rows, width - self._context + 1, self._context, -1)
        d_embedded = np.zeros((rows, width, d_windows.shape[3]), np.float32)
        for offset in range(self._context):
            d_embedded[:, offset : offset + d_windows.shape[1]] += d_windows[:, :, offset]
        one_hot = np.eye(len(self.parameters["embed"]), dtype=np.float32)[inputs.ravel()]
        return one_hot.T @ d_embedded.reshape(rows * width, -1)


def _cross_entropy(logits: np.ndarray, targets: np.ndarray) -> tuple[float, np.ndarray]:
    lines = np.arange(len(targets))
    logits = logits - logits.max(axis=1, keepdims=True)
    total = np.exp(logits).sum(axis=1, keepdims=True)
    loss = float(np.mean(np.log(total[:, 0]) - logits[lines, targets]))
    gradient = np.exp(logits) / total
    gradient[lines, targets] -= 1
    return loss, gradient / np.float32(len(targets))


class Adam:
    """Adam with gradient clipping by total norm."""

    def __init__(
        self, parameters: Arrays, beta1: float, beta2: float, max_grad_norm: float
    ) -> None:
        self._parameters = parameters
        self._beta1, self._beta2, self._max_grad_norm = beta1, beta2, max_grad_norm
        self.mean = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.square = {name: np.zeros_like(value) for name, value in parameters.items()}

    def update(self, gradients: Arrays, step: int, rate: float) -> float:
        """One update in place, `step` counted from 0. Returns the norm of the gradients before
        clipping.
        """
        norm = math.sqrt(sum(float(np.vdot(g, g)) for g in gradients.values()))
        scale = min(1.0, self._max_grad_norm / norm) if norm > 0 else 1.0
        mean_bias, square_bias = 1 - self._beta1 ** (step + 1), 1 - self._beta2 ** (step + 1)
        for name, gradient in gradients.items():
            gradient = gradient * scale
            mean, square = self.mean[name], self.square[name]
            mean += (1 - self._beta1) * (gradient - mean)
            square += (1 - self._beta2) * (gradient * gradient - square)
            self._parameters[name] -= (
                rate / mean_bias * mean / (np.sqrt(square / square_bias) + 1e-8)
            )
        return norm
