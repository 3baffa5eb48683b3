"""What is run in a sandbox beside commands. Any image with a POSIX shell and the usual small programs takes them."""

from typing import Final

MARK: Final = "SBX_RUN"
"""Variable by which all that a command started is found again, also what left its process group."""

AS_USER: Final = """
who=${1%%:*}; group=
case $1 in *:*) group=${1#*:};; esac
shift
if [ -z "$group" ]; then
  group=$(id -g -- "$who" 2> /dev/null) || case $who in
    *[!0-9]*) echo "There is no user $who." >&2; exit 126;;
    *) group=0;;
  esac
fi
if [ "$(id -u -- "$who" 2> /dev/null || echo "$who")" = "$(id -u)" ]; then exec "$@"; fi
if [ "$(id -u)" != 0 ]; then echo "This image runs as another user than root." >&2; exit 126; fi
exec setpriv --reuid "$who" --regid "$group" --clear-groups -- "$@"
"""
"""`user[:group] command...`"""

PLAIN: Final = 'exec "$@"'
"""By way of the shell, so that a program that is not there is told by its exit code."""

END_RUN: Final = f"""
for round in 1 2 3; do
  for process in /proc/[0-9]*; do
    if tr '\\0' '\\n' < "$process/environ" 2> /dev/null | grep -qx "{MARK}=$1"; then
      kill -9 "${{process#/proc/}}" 2> /dev/null
    fi
  done
done
exit 0
"""
END_ALL: Final = """
keep=" 1 $$ "; up=$$
while [ "$up" -gt 1 ]; do
  up=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$up/status")
  keep="$keep$up "
done
for round in 1 2 3; do
  for process in /proc/[0-9]*; do
    case $keep in *" ${process#/proc/} "*) ;; *) kill -9 "${process#/proc/}" 2> /dev/null;; esac
  done
done
exit 0
"""
"""Everything but what this shell descends from, the sandbox's own server among it."""
END_USER: Final = """
for process in /proc/[0-9]*; do
  if [ "$(stat -c %U "$process" 2> /dev/null)" = "$1" ]; then kill -9 "${process#/proc/}" 2> /dev/null; fi
done
exit 0
"""

UNPACK: Final = 'mkdir -p -- "$2" && tar -C "$2" -xpf "$1"; code=$?; rm -f -- "$1"; exit $code'
PACK: Final = """
if [ -d "$1" ]; then tar -C "$1" -cf "$2" .
elif [ -e "$1" ]; then tar -C "$(dirname -- "$1")" -hcf "$2" -- "$(basename -- "$1")"
else exit 44
fi || exit 1
[ -d "$1" ] && echo folder || echo file
"""
NOT_THERE: Final = 44

FACTS: Final = "pwd; id -u; tr '\\0' '\\n' < /proc/self/environ"
