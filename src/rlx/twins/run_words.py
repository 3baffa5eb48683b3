"""Words of a record in a reader's language: settings, kinds of failures, what became of files, who logged.

A word that has no text of ours, of a plug-in say, stands for itself.
"""

from rlx.texts import DEFAULT, Say, catalog, say


def field_said(name: str) -> Say | str:
    """A setting that was chosen when a rollout was started."""
    return _known(f"run.field_{name}", name)


def value_said(value: str | int | float | bool) -> Say | str:
    if isinstance(value, bool):
        return say("run.yes") if value else say("run.no")
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else value


def kind_said(kind: str) -> Say | str:
    """What kind of failure it was."""
    return _known(f"run.kind_{kind.replace('-', '_')}", kind)


def change_said(change: str) -> Say | str:
    """What became of a file."""
    return _known(f"run.change_{change}", change)


def source_said(source: str) -> Say | str:
    """Who printed a log."""
    return _known(f"run.log_from_{source}", source)


def sandbox_said(sandbox: str) -> Say | str:
    return _known(f"harbor.sandbox.{sandbox}", sandbox)


def _known(key: str, word: str) -> Say | str:
    return say(key) if key in catalog(DEFAULT) else word
