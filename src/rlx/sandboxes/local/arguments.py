"""What bubblewrap is told to make of a mounted root."""

from pathlib import Path

from rlx.sandboxes.local.machine import Runtime

CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP"),
    *("NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"),
)
"""Docker's default set."""
SHARED_MEMORY = 64 * 1024 * 1024
MASKED_FILES = (
    *("kcore", "keys", "key-users", "kmsg", "kallsyms", "kpagecount", "kpageflags", "kpagecgroup", "iomem", "ioports"),
    *("latency_stats", "mtrr", "sched_debug", "slabinfo", "sysrq-trigger", "timer_list", "timer_stats", "vmallocinfo"),
)
MASKED_FOLDERS = ("acpi", "asound", "scsi", "fs", "driver")
SHOWN_OF_SYS = ("/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage")
PYTHON, INSIDE = "/.rlx/py", "/.rlx/inside"
PROGRAM = "bin/init"
"""Not `python`, or a task that ends its own servers by that name would end this too."""


def bubblewrap(
    *, root: Path, filter_at: int, control: int, runtime: Runtime, inside: Path
) -> tuple[list[str], list[str]]:
    """Options, and the command of the agent, for a filter and a control line at these descriptors."""
    told = ["--bind", str(root), "/", "--dev", "/dev"]
    told += ["--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108  # inside
    # bubblewrap covers only what looks writable as a folder: settings of the kernel do not, and are.
    told += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    for name in MASKED_FILES:
        if Path("/proc", name).exists():
            told += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    for name in MASKED_FOLDERS:
        if Path("/proc", name).is_dir():
            told += ["--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}"]
    told += ["--tmpfs", "/sys"]
    for path in SHOWN_OF_SYS:
        told += ["--ro-bind-try", path, path]
    told += ["--remount-ro", "/sys", "--tmpfs", PYTHON]
    told += ["--ro-bind", str(runtime.program), f"{PYTHON}/{PROGRAM}"]
    for source, name in runtime.files:
        told += ["--ro-bind", str(source), f"{PYTHON}/{name}"]
    for name in runtime.hidden:
        told += ["--tmpfs", f"{PYTHON}/{name}", "--remount-ro", f"{PYTHON}/{name}"]
    told += ["--remount-ro", PYTHON, "--ro-bind", str(inside), INSIDE]
    told += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    told += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1", "--chdir", "/"]
    told += ["--cap-drop", "ALL"]
    for name in CAPABILITIES:
        told += ["--cap-add", f"CAP_{name}"]
    told += [
        "--seccomp",
        str(filter_at),
        "--clearenv",
        "--setenv",
        "PYTHONHOME",
        PYTHON,
        "--setenv",
        "LC_ALL",
        "C.UTF-8",
    ]
    told += ["--setenv", "LD_LIBRARY_PATH", f"{PYTHON}/lib"]
    return told, [f"{PYTHON}/{PROGRAM}", "-B", "-s", "-S", f"{INSIDE}/agent.py", str(control)]
