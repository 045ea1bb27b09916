"""Liquids meet deformable, rigid and animated solids.

>>> import meniscus as mn
>>> world = mn.World("dam-break", set={"resolution": 0.05})
>>> for frame in world.run(seconds=0.2):
...     water = frame.particles
>>> water.position.shape[1], bool(water.velocity.max() > 0)
(3, True)

Lengths in metres, times in seconds, velocities in m/s, as in scene files.
"""

from __future__ import annotations

import difflib
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from . import _meniscus
from ._meniscus import RecordError, SceneError, StepError

__all__ = [
    "Frame", "Particles", "Probes", "RecordError", "Run", "SceneError", "StepError", "Surface", "Tets", "World",
    "check", "open", "run", "scenes", "sweep",
]  # fmt: skip


def _toml(value: Any) -> str:
    """A value as a scene file writes it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return repr(value.item() if isinstance(value, np.generic) else value)
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items()) + " }"
    if isinstance(value, (Sequence, np.ndarray)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    raise TypeError(f"a scene has no value like {value!r}")


def _set(settings: Mapping[str, Any] | None, seconds: float | None = None) -> list[str]:
    """Settings as `--set` takes them."""
    pairs = dict(settings or {}) | ({} if seconds is None else {"seconds": seconds})
    return [f"{key}={_toml(value)}" for key, value in pairs.items()]


@dataclass(frozen=True)
class Particles:
    """All particles of a frame, in id order: position [m], velocity [m/s], density [kg/m³], pressure [Pa], distance between neighbours [m].

    `body` counts through `Frame.bodies`; an id stays with its particle and is never used again.
    """

    position: np.ndarray
    velocity: np.ndarray
    id: np.ndarray
    body: np.ndarray
    density: np.ndarray
    pressure: np.ndarray
    spacing: float

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True)
class Surface:
    """A triangle surface: vertices [m] with velocities [m/s]; that of a liquid with a pressure [Pa], else `pressure` is None."""

    name: str
    vertices: np.ndarray
    velocity: np.ndarray
    pressure: np.ndarray | None
    triangles: np.ndarray


@dataclass(frozen=True)
class Tets:
    """The tetrahedra of a soft body, with vertices [m]."""

    name: str
    vertices: np.ndarray
    tets: np.ndarray


class Frame:
    """A world at one instant. Its arrays are its own: later steps do not touch them."""

    def __init__(self, inner: _meniscus.Frame) -> None:
        self._inner = inner

    @property
    def number(self) -> int:
        """Frame `n` shows the time `n / fps`."""
        return self._inner.number

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._inner.time

    @property
    def step(self) -> int:
        """Steps taken since the start."""
        return self._inner.step

    @cached_property
    def bodies(self) -> list[tuple[str, str]]:
        """Name and kind ("liquid", "wall", "nozzle", "solid") of each body."""
        return self._inner.bodies()

    @cached_property
    def particles(self) -> Particles:
        """All particles."""
        return Particles(**self._inner.particles())

    @cached_property
    def surfaces(self) -> dict[str, Surface]:
        """Surfaces of solids, walls of meshes and liquids on a grid, by name."""
        return {surface["name"]: Surface(**surface) for surface in self._inner.surfaces()}

    @cached_property
    def tets(self) -> dict[str, Tets]:
        """Tetrahedra of soft bodies, by name; frames of a record have none."""
        return {tets["name"]: Tets(**tets) for tets in self._inner.tets()}

    def surface(self, name: str, cube: float | None = None) -> Surface:
        """The surface of a body; that of a liquid is found from its particles, with cubes of `cube` spacings."""
        return Surface(**self._inner.surface(name, cube))

    def render(self, width: int | None = None, height: int | None = None) -> np.ndarray:
        """A picture as the scene asks for it: height × width × 3 bytes."""
        return self._inner.render(width, height)

    def _repr_png_(self) -> bytes:
        return bytes(self._inner.png(640, 360))

    def to_pyvista(self) -> Any:
        """A `pyvista.MultiBlock`: particles as points, surfaces as meshes; m, m/s, kg/m³, Pa. Needs pyvista."""
        import pyvista

        blocks = pyvista.MultiBlock()
        particles = self.particles
        if len(particles):
            points = pyvista.PolyData(particles.position)
            for name in ("velocity", "id", "body", "density", "pressure"):
                points[name] = getattr(particles, name)
            blocks["particles"] = points
        for name, surface in self.surfaces.items():
            faces = np.column_stack([np.full(len(surface.triangles), 3), surface.triangles])
            mesh = pyvista.PolyData(surface.vertices, faces.ravel().astype(np.int64))
            mesh["velocity"] = surface.velocity
            if surface.pressure is not None:
                mesh["pressure"] = surface.pressure
            blocks[name] = mesh
        return blocks

    def __repr__(self) -> str:
        return f"<meniscus.Frame {self.number} at {self.time:.4g} s, {len(self.particles)} particles>"


class Probes(np.ndarray):
    """A structured array: one field per column, such as `probes["kinetic energy [J]"]`."""

    @staticmethod
    def of(columns: Sequence[str], rows: np.ndarray) -> Probes:
        """Columns and rows as one array."""
        rows = np.asarray(rows, dtype=float).reshape(-1, len(columns))
        table = np.empty(len(rows), dtype=[(name, float) for name in columns])
        for name, column in zip(columns, rows.T):
            table[name] = column
        return table.view(Probes)

    def __getitem__(self, key: Any) -> Any:
        names = self.dtype.names or ()
        if isinstance(key, str) and key not in names:
            near = [name for name in names if name.startswith(f"{key} [")] or difflib.get_close_matches(key, names)
            there = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(names)}"
            raise KeyError(f"no column `{key}`; {there}")
        return super().__getitem__(key)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`. Needs pandas."""
        import pandas  # type: ignore[import-untyped, unused-ignore]

        return pandas.DataFrame({name: np.asarray(self[name]) for name in self.dtype.names or ()})


class World:
    """A scene that is stepped.

    `scene` is a name of the gallery, the path of a scene file, or the text of one (more than one line); `set` holds settings on
    top of it, `{"liquid.water.viscosity": 0.1}`. The same bits come out whatever `threads` says.
    """

    def __init__(
        self, scene: str | os.PathLike[str], set: Mapping[str, Any] | None = None, *, threads: int | None = None
    ) -> None:
        self._inner = _meniscus.World(os.fspath(scene), _set(set), threads)
        self._rows = [self._inner.measure()]

    @property
    def name(self) -> str:
        """Name of the scene."""
        return self._inner.name

    @property
    def method(self) -> str:
        """Name of the method."""
        return self._inner.method

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._inner.time

    @property
    def frame_number(self) -> int:
        """Number of the last frame that `run` has reached."""
        return self._inner.frame_number

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self._inner.steps

    @property
    def warnings(self) -> list[str]:
        """What is odd about the scene."""
        return self._inner.warnings

    @property
    def digest(self) -> str:
        """A fingerprint of the state: equal digests are equal bits."""
        return self._inner.digest()

    def step(self, until: float | None = None) -> None:
        """Takes one step, not beyond the time `until` [s]."""
        self._inner.step(until)

    def run(self, seconds: float | None = None, *, progress: bool = False) -> Iterator[Frame]:
        """Goes on to the time `seconds` (that of the scene), and gives each frame on the way. Other threads may work meanwhile."""
        end = self._inner.seconds if seconds is None else seconds
        frames = round(end * self._inner.fps)
        while self._inner.frame_number < frames:
            self._inner.advance()
            self._rows.append(self._inner.measure())
            if progress:
                _bar(self.name, self._inner.frame_number, frames)
            yield self.frame()

    def command(self, key: str | Mapping[str, Any], value: Any = None) -> None:
        """Sets a live key before the next step, or gives a command as `commands.jsonl` has it: `{"poke": {…}}`."""
        command = {"set": {"key": key, "value": value}} if isinstance(key, str) else key
        try:
            self._inner.command(json.dumps(command))
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None

    def frame(self) -> Frame:
        """The world as it is now."""
        return Frame(self._inner.frame())

    @property
    def probes(self) -> Probes:
        """What was measured at the start and at each frame that `run` has reached."""
        return Probes.of(self._inner.columns(), np.array(self._rows))

    def render(self, width: int | None = None, height: int | None = None) -> np.ndarray:
        """A picture of the world as it is now."""
        return self.frame().render(width, height)

    def _repr_png_(self) -> bytes:
        return self.frame()._repr_png_()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole state."""
        self._inner.save(path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Takes over what `save` wrote: the next steps are, bit for bit, those that would have followed then."""
        self._inner.load(path)
        self._rows = [self._inner.measure()]

    def __repr__(self) -> str:
        return f"<meniscus.World {self.name} by {self.method} at {self.time:.4g} s>"


class Run(Sequence[Frame]):
    """A record on disk: `run[12]`, `len(run)`, `for frame in run`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._inner = _meniscus.Record(path)

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self._inner.path)

    @property
    def info(self) -> dict[str, Any]:
        """What run.json says."""
        return json.loads(self._inner.info())

    @property
    def probes(self) -> Probes:
        """The table of probes."""
        return Probes.of(*self._inner.probes())

    def export(self, to: str, out: str | os.PathLike[str] | None = None) -> Path:
        """Writes files for other programs ("vtk", "ply", "obj", "glb", "usd", "usda", "vti"), as `meniscus export` does; their folder."""
        folder, left_out = self._inner.export(to, out)
        for what in left_out:
            warnings.warn(f"left out: {what}", stacklevel=2)
        return Path(folder)

    def __len__(self) -> int:
        return len(self._inner.frame_numbers())

    @overload
    def __getitem__(self, index: int) -> Frame: ...

    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...

    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        numbers = self._inner.frame_numbers()
        if isinstance(index, slice):
            return [Frame(self._inner.frame(number)) for number in numbers[index]]
        return Frame(self._inner.frame(numbers[index]))

    def _repr_png_(self) -> bytes:
        return self[-1]._repr_png_()

    def __repr__(self) -> str:
        return f"<meniscus.Run {self.path}, {len(self)} frames>"


def open(path: str | os.PathLike[str]) -> Run:  # noqa: A001: it is meniscus.open
    """Opens the folder of a run."""
    return Run(path)


def run(
    scene: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    pictures: bool = False,
    threads: int | None = None,
    progress: bool = False,
) -> Run:
    """Runs a scene into a folder, as `meniscus run` does: frames, probes, checkpoints."""
    scene = os.fspath(scene)
    title = "scene" if "\n" in scene else Path(scene).stem
    tell = (lambda frame, frames: _bar(title, frame, frames)) if progress else None
    return Run(_meniscus.run(scene, _set(set, seconds), out, pictures, threads, tell))


def check(scene: str | os.PathLike[str], set: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a scene will be, or a `SceneError` with file, line, key and help."""
    return _meniscus.check(os.fspath(scene), _set(set))


def scenes() -> dict[str, str]:
    """The gallery: names and titles."""
    return dict(_meniscus.scenes())


# A process of its own, given `sys.path` first: nothing of the caller's script runs again in it.
_CHILD = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); import meniscus; meniscus._one()"


def _one() -> None:
    """One run of a sweep, in its own process: the job comes by standard input, probes or what went wrong go out."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    scene, settings, seconds = pickle.load(sys.stdin.buffer)
    answer: Probes | Exception
    try:
        world = World(scene, settings, threads=1)
        for _ in world.run(seconds):
            pass
        answer = world.probes
    except Exception as error:
        answer = error
    sys.stdout.buffer.write(pickle.dumps(answer))


def _apart(scene: str, settings: dict[str, Any], seconds: float | None) -> Probes:
    """Gives `_one` its job and waits for it."""
    job = pickle.dumps(sys.path) + pickle.dumps((scene, settings, seconds))
    child = subprocess.run([sys.executable, "-c", _CHILD], input=job, stdout=subprocess.PIPE)
    if child.returncode != 0:
        raise RuntimeError(f"the process of {settings} ended with {child.returncode}")
    answer = pickle.loads(child.stdout)
    if isinstance(answer, Exception):
        answer.args = (f"{settings}: {answer}",)
        raise answer
    return answer


def sweep(
    scene: str | os.PathLike[str],
    grid: Mapping[str, Sequence[Any]],
    *,
    seconds: float | None = None,
    processes: int | None = None,
) -> list[tuple[dict[str, Any], Probes]]:
    """Runs a scene for every combination of `grid`'s values, and gives settings and probes of each.

    Each run has a process and one thread of its own; as many as there are processors (or `processes`) work at a time. The first
    that fails ends the sweep with its error, whose message begins with its settings.
    """
    settings = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    with ThreadPoolExecutor(processes or os.cpu_count()) as pool:
        runs = [pool.submit(_apart, os.fspath(scene), one, seconds) for one in settings]
        try:
            return [(one, run.result()) for one, run in zip(settings, runs)]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _bar(title: str, done: int, all_frames: int) -> None:
    full = round(30 * done / max(all_frames, 1))
    end = "\n" if done >= all_frames else ""
    sys.stderr.write(f"\r{title} |{'█' * full}{' ' * (30 - full)}| {done}/{all_frames}{end}")
    sys.stderr.flush()
