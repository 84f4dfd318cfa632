"""PROGRAM ARGUMENT…: runs a program until standard input ends, and then interrupts it.

The process that writes into that pipe may end in any way: a tracer does not outlive it.
It is run as a script and imports nothing of the package.
"""

import os
import signal
import subprocess
import sys
import threading

#: Seconds that the program has to end.
PATIENCE = 30


def main() -> int:
    # A terminal interrupts the program by itself. A function, since what is ignored stays so in the program.
    signal.signal(signal.SIGINT, lambda *_: None)
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)

    def follow() -> None:
        while os.read(0, 1):
            pass
        child.send_signal(signal.SIGINT)
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()

    threading.Thread(target=follow, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    code = main()
    # A daemon waits for the pipe, and cannot be joined.
    sys.stdout.flush()
    sys.exit(code if code >= 0 else 128 - code)
