"""What a check found, as JSON and as a page."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from rlx.generator.check.compare import Difference


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    ok: bool
    seconds: float
    detail: str = ""
    """What was printed, or what is wrong."""


@dataclass(frozen=True, slots=True)
class Variant:
    framework: str
    title: str
    requirement: str
    version: str
    """What is installed."""
    stages: Sequence[Stage]
    differences: Sequence[Difference]
    import_seconds: float
    """Processor time that importing the framework alone takes."""
    imports: int
    """How many of the processes that were started import it."""

    @property
    def ok(self) -> bool:
        return all(stage.ok for stage in self.stages)

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)


@dataclass(frozen=True, slots=True)
class Report:
    name: str
    title: str
    archetype: str
    rounds: int
    calls: int
    variants: Sequence[Variant]
    seconds: float
    processor_seconds: float
    """Of all programs that were started."""

    @property
    def ok(self) -> bool:
        return bool(self.variants) and all(variant.ok for variant in self.variants)

    @property
    def stage_names(self) -> list[str]:
        """The stages of all variants, in the order they were gone through."""
        return list(dict.fromkeys(stage.name for variant in self.variants for stage in variant.stages))

    @property
    def import_share(self) -> float:
        """The part of the processor time that went into imports of the frameworks, from 0 to 1."""
        imports = sum(variant.import_seconds * variant.imports for variant in self.variants)
        return min(1.0, imports / self.processor_seconds) if self.processor_seconds else 0.0

    def as_json(self) -> str:
        variants = [{"ok": each.ok, **asdict(each)} for each in self.variants]
        return json.dumps(
            {"ok": self.ok, "import_share": round(self.import_share, 3), **asdict(self), "variants": variants}, indent=2
        )


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write `report.json` and `report.html`, and return their paths."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    page = environment.get_template("report.html").render(report=report)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {folder / "report.json": report.as_json() + "\n", folder / "report.html": page}
    for path, text in paths.items():
        path.write_text(text, encoding="utf-8")
    return list(paths)
