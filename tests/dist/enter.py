"""Runs a command in another root directory and, with OLD_KERNEL=1, without the system calls that came after Linux 3.10.

In: ROOT, the command and its arguments as they are found there. Linux 3.10 is the kernel of distributions with glibc 2.17; a system
call of a later one fails with ENOSYS there, and so it does here (seccomp(2)). This needs no file in ROOT.
"""

import ctypes
import errno
import os
import struct
import sys

# The first system call after Linux 3.10 (sched_setattr, 3.14), by `uname -m`: all later ones have larger numbers.
FIRST_LATER = {"x86_64": 314, "aarch64": 274}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x35, 0x06
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def forbid(first):
    filters = [
        (LOAD_WORD, 0, 0, 0),
        (JUMP_IF_AT_LEAST, 0, 1, first),
        (RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.ENOSYS),
        (RETURN, 0, 0, SECCOMP_RET_ALLOW),
    ]
    code = b"".join(struct.pack("=HBBI", *one) for one in filters)
    program = Program(len(filters), code)
    libc = ctypes.CDLL(None, use_errno=True)
    one, none = ctypes.c_ulong(1), ctypes.c_ulong(0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, one, none, none, none) or libc.prctl(
        PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.byref(program), none, none
    ):
        sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")


def seeded():
    """OpenSSL does not read /dev/urandom on a kernel whose name is 4.8 or later, which must have getrandom(2). Unless somebody has
    left this sign that the kernel has had enough entropy (OPENSSL_RAND_SEED_DEVRANDOM_SHM_ID): it goes with the IPC namespace."""
    ipc_creat = 0o1000
    ctypes.CDLL(None).shmget(114, ctypes.c_size_t(1), ipc_creat | 0o444)


root, command = sys.argv[1], sys.argv[2:]
environment = {"HOME": "/home", "PATH": "/usr/bin:/bin", "LANG": "C"}
os.chroot(root)
os.chdir("/home")
if os.environ.get("OLD_KERNEL") == "1":
    seeded()
    forbid(FIRST_LATER[os.uname().machine])
try:
    os.execve(command[0], command, environment)
except OSError as error:
    sys.exit(f"{command[0]}: {error.strerror}")
