"""The bar of a fit as it goes: in a notebook, on a terminal, or as lines where neither is."""

import html
import math
import shutil
import sys
import time
from typing import Any, Callable, Optional, TextIO

__all__ = ["Bar", "begin"]


def begin(wanted: Optional[bool], starts: int, max_iter: int, tolerance: float) -> Optional["Bar"]:
    """The bar of a fit, or None when there is none to draw.

    ``wanted`` None draws where somebody watches (a notebook, a terminal), and only fits that take
    longer than half a second; True draws always, as lines where standard error is a file.
    """
    if wanted is False:
        return None
    if _in_notebook():
        surface: Any = _Notebook()
    elif sys.stderr is not None and sys.stderr.isatty():
        surface = _Terminal(sys.stderr)
    elif wanted and sys.stderr is not None:
        surface = _Lines(sys.stderr)
    else:
        return None
    return Bar(surface, starts, max_iter, tolerance, delay=0.0 if wanted else 0.5)


class Bar:
    """Turns the state after each iteration into a fraction and a line of text, not too often."""

    def __init__(self, surface: Any, starts: int, max_iter: int, tolerance: float, delay: float = 0.0,
                 clock: Callable[[], float] = time.monotonic):
        self._surface, self._starts, self._max_iter, self._tolerance = surface, starts, max_iter, tolerance
        self._clock, self._began = clock, clock()
        self._next = self._began + delay
        self._start = -1
        self._fraction, self._text, self._drawn = 0.0, "", False

    def show(self, start: int, iteration: int, objective: float, gradient_norm: float, scaled_norm: float) -> None:
        """After an iteration; ``scaled_norm`` is what training compares with its tolerance."""
        now, norm = self._clock(), max(scaled_norm, 1e-300)
        if start != self._start:
            self._start, self._start_began = start, now
            self._first = self._least = norm
        self._least = min(self._least, norm)
        part = self._part(iteration)
        if now < self._next:
            return
        self._next = now + self._surface.period
        self._fraction = (start + part) / self._starts
        words = [f"start {start + 1}/{self._starts}"] if self._starts > 1 else []
        words += [f"iteration {iteration}", f"objective {objective:.4f}", f"gradient {gradient_norm:.1e}",
                  _duration(now - self._began)]
        if part > 0.05:
            spent = now - self._start_began
            words.append(f"about {_duration(spent / part * (self._starts - start) - spent)} left")
        self._text, self._drawn = "  ".join(words), True
        self._surface.draw(self._fraction, self._text)

    def say(self, text: str) -> None:
        """What training is about to do, where there is nothing to count."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + self._surface.period
        self._text, self._drawn = text, True
        self._surface.draw(self._fraction, text)

    def close(self, finished: bool = True) -> None:
        if self._drawn:
            self._surface.close(1.0 if finished else self._fraction, self._text)

    def _part(self, iteration: int) -> float:
        """Finished part of this start, estimated from the fall of the gradient."""
        whole = math.log(max(self._first / self._tolerance, 1.0 + 1e-6))
        by_gradient = math.log(self._first / self._least) / whole
        return min(max(by_gradient, iteration / max(1, self._max_iter), 0.0), 1.0)


class _Terminal:
    period = 0.1

    def __init__(self, stream: TextIO):
        self._stream = stream

    def draw(self, fraction: float, text: str) -> None:
        line = f"[{'#' * int(20 * fraction):<20}] {text}"
        # A line that wraps could not be drawn over.
        self._stream.write("\r\033[K" + line[: shutil.get_terminal_size().columns - 1])
        self._stream.flush()

    def close(self, fraction: float, text: str) -> None:
        self._stream.write("\r\033[K")
        self._stream.flush()


class _Lines:
    period = 1.0

    def __init__(self, stream: TextIO):
        self._stream = stream

    def draw(self, fraction: float, text: str) -> None:
        print(text, file=self._stream, flush=True)

    def close(self, fraction: float, text: str) -> None:
        pass


class _Notebook:
    period = 0.2

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, fraction: float, text: str) -> None:
        from IPython.display import HTML, display

        page = HTML(f'<progress value="{fraction:.3f}" max="1"></progress> <code>{html.escape(text)}</code>')
        if self._handle is None:
            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)

    def close(self, fraction: float, text: str) -> None:
        self.draw(fraction, text)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
