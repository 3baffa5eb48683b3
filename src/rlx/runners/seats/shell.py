"""The shell that a person is given: the sandbox's own, which also tells of its commands and knows `grade`."""

from collections.abc import Mapping, Sequence
from typing import Final

PREFIX: Final = b"\x1b]7770;"
"""Of what it tells: an operating system command of terminals, of a number that none of them knows."""
TERMINAL: Final[Mapping[str, str]] = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
"""What a person at a terminal has beside an agent's variables."""
_SETTINGS: Final = r"""
[ -f ~/.bashrc ] && . ~/.bashrc
unset HISTFILE HISTCONTROL HISTIGNORE
HISTTIMEFORMAT=
set -o history
trap 'builtin kill -KILL $$' HUP
grade() { builtin printf '\e]7770;%s;grade\a' TOKEN; }
__seat_ran() {
  local line; line=$(builtin history 1)
  builtin printf '\e]7770;%s;ran;%s\a' TOKEN "${line//[$'\a\e']/}"
}
__seat_back() { builtin printf '\e]7770;%s;back;%s\a' TOKEN "$?"; }
PS0='$(__seat_ran)'"${PS0-}"
PROMPT_COMMAND="__seat_back${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
"""
"""Leaving the shell does not end what it left running: that is for the grading to decide, as with every agent."""


def shell(token: str, *, bash: bool) -> Sequence[str]:
    """Its command. `token`, letters and digits, marks what it tells; without bash it tells nothing."""
    if not bash:
        return ("/bin/sh", "-i")
    return ("/bin/bash", "-c", 'exec /bin/bash --rcfile <(printf %s "$0") -i', _SETTINGS.replace("TOKEN", token))
