"""Runs a program that ends when whoever started it does, by SIGKILL too: `python leash.py FD COMMAND...`.

FD is the reading end of a pipe whose other end the starter alone holds, and closes to end the program. The program and
all that it starts are of this process's group, which is killed then.
"""

import os
import signal
import subprocess
import sys
import threading


def main() -> None:
    program = subprocess.Popen(sys.argv[2:])
    ending = threading.Event()

    def end(pipe: int) -> None:
        os.read(pipe, 1)
        ending.set()
        program.kill()

    threading.Thread(target=end, args=(int(sys.argv[1]),), daemon=True).start()
    code = program.wait()  # only what is waited for adds its processor time to the starter's
    if ending.is_set():
        os.killpg(0, signal.SIGKILL)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
