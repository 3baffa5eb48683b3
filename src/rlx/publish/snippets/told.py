"""What an environment supports and how it is used, as JSON and as Markdown."""

from rlx.answers.shown import Json
from rlx.hub.info import RepoInfo
from rlx.ids import EnvKey
from rlx.publish.detect.base import Detection, Support, Way
from rlx.publish.frameworks import FRAMEWORKS
from rlx.publish.snippets.base import Snippet
from rlx.texts import say, words


def use_json(
    key: EnvKey, info: RepoInfo, detection: Detection, snippets: tuple[Snippet, ...], language: str
) -> dict[str, Json]:
    return {
        "id": str(key),
        "revision": info.sha,
        "tagged": detection.member,
        "whole": detection.whole,
        "frameworks": [support_json(support, language) for support in detection.supports],
        "snippets": [_snippet(snippet, language) for snippet in snippets],
    }


def support_json(support: Support, language: str) -> dict[str, Json]:
    return {
        "framework": support.framework,
        "title": title(support.framework, language),
        "state": support.state,
        "library": support.library,
        "ways": [_way(way) for way in support.ways],
        "evidence": [{"path": seen.path, "told": words(seen.told, language)} for seen in support.evidence],
    }


def _way(way: Way) -> dict[str, Json]:
    return {
        "kind": way.kind,
        "path": way.path,
        "name": way.name,
        "version": way.version,
        "split": way.split,
        "tasks": way.tasks,
    }


def _snippet(snippet: Snippet, language: str) -> dict[str, Json]:
    return {
        "framework": snippet.framework,
        "title": snippet_title(snippet, language),
        "state": snippet.state,
        "way": None if snippet.way is None else _way(snippet.way),
        "tested": list(snippet.tested),
        "needs": [words(say(f"publish.needs.{need}"), language) for need in snippet.needs],
        "steps": [
            {
                "id": step.id,
                "title": words(say(f"publish.step.{step.id}"), language),
                "language": step.language,
                "text": step.text,
            }
            for step in snippet.steps
        ],
    }


def use_markdown(
    key: EnvKey, info: RepoInfo, detection: Detection, snippets: tuple[Snippet, ...], language: str
) -> str:
    lines = [f"# {words(say('publish.use.title'), language)}: {key}", "", f"`{info.sha}`", ""]
    for support in detection.supports:
        state = words(say(f"publish.state.{support.state}"), language)
        seen = "; ".join(words(item.told, language) for item in support.evidence[:3])
        lines.append(f"- **{title(support.framework, language)}**: {state}. {seen}")
    for snippet in snippets:
        lines += ["", f"## {snippet_title(snippet, language)}", ""]
        lines += [f"- {words(say(f'publish.needs.{need}'), language)}" for need in snippet.needs]
        if snippet.tested:
            lines.append(f"- {words(say('publish.use.tested', versions=', '.join(snippet.tested)), language)}")
        for step in snippet.steps:
            lines += ["", f"{words(say(f'publish.step.{step.id}'), language)}:", ""]
            lines += [f"```{step.language}", step.text, "```"]
    return "\n".join(lines) + "\n"


def title(framework: str, language: str) -> str:
    known = FRAMEWORKS.get(framework)
    return words(say("publish.use.rows"), language) if known is None else known.title


def snippet_title(snippet: Snippet, language: str) -> str:
    """The framework and, where it has more than one way, which part of the repository is meant."""
    head, way = title(snippet.framework, language), snippet.way
    if way is None:
        return head
    part = f"{way.name}@{way.version}" if way.version else way.path
    return f"{head}: {part}" if part else head
