"""The system-call filter of the bubblewrap wall, as a classic BPF program for the kernel.

No kept wheel of libseccomp exists for our Python versions, and the program is short. Numbers are
those of the kernel's asm/unistd_64.h and asm-generic/unistd.h, structures those of
linux/filter.h, linux/seccomp.h and linux/audit.h.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator

_X86_64, _AARCH64 = "x86_64", "aarch64"
_ARCHITECTURES = {_X86_64: 0xC000003E, _AARCH64: 0xC00000B7}  # AUDIT_ARCH_*
_X32_BIT = 0x4000_0000  # a second table of system calls that x86_64 kernels may serve

# What nobody inside needs to build a skill: it changes the machine, looks into other processes, or
# reaches parts of the kernel in which most of its holes were found. (x86_64, aarch64)
_DENIED: dict[str, tuple[int, int | None]] = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "lookup_dcookie": (212, 18),
    "fanotify_init": (300, 262),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "nfsservctl": (180, 42),
    "vhangup": (153, 58),
    "uselib": (134, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
}
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_NEW_NAMESPACES = 0x7E02_0000  # CLONE_NEW* of clone, but for time, which it cannot create
# unix, inet, inet6, netlink. Others, such as vsock, are not bound to the network namespace.
_FAMILIES = (1, 2, 10, 16)

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little-endian

DENIED = tuple(_DENIED)
"""The names of the denied system calls, on the one architecture or the other."""


def seccomp_filter(machine: str | None = None) -> bytes | None:
    """Return the filter for a machine as `uname -m` names it, this one by default.

    None if it is neither x86_64 nor aarch64.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHITECTURES:
        return None
    return b"".join(struct.pack("<HBBI", *step) for step in _program(machine))


_Step = tuple[int, int, int, int]  # operation, steps to skip if true, if false, operand


def _program(machine: str) -> Iterator[_Step]:
    column = 0 if machine == _X86_64 else 1
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield from _unless(_EQUAL, _ARCHITECTURES[machine], _KILL)
    yield _LOAD, 0, 0, _NUMBER
    if machine == _X86_64:
        yield from _if(_AT_LEAST, _X32_BIT, _failing(errno.ENOSYS))
    for numbers in _DENIED.values():
        number = numbers[column]
        if number is not None:
            yield from _if(_EQUAL, number, _failing(errno.EPERM))
    # Its flags are in memory, where no filter can look; C libraries then use clone.
    yield from _if(_EQUAL, _CLONE3[column], _failing(errno.ENOSYS))
    yield from _about(_CLONE[column], [*_if(_ANY_BIT, _NEW_NAMESPACES, _failing(errno.EPERM))])
    known = [step for family in _FAMILIES for step in _if(_EQUAL, family, _ALLOW)]
    yield from _about(_SOCKET[column], [*known, (_RETURN, 0, 0, _failing(errno.EAFNOSUPPORT))])
    yield _RETURN, 0, 0, _ALLOW


def _if(compare: int, operand: int, verdict: int) -> Iterator[_Step]:
    yield compare, 0, 1, operand
    yield _RETURN, 0, 0, verdict


def _unless(compare: int, operand: int, verdict: int) -> Iterator[_Step]:
    yield compare, 1, 0, operand
    yield _RETURN, 0, 0, verdict


def _about(number: int, steps: list[_Step]) -> Iterator[_Step]:
    """Yield steps that judge a system call by its first argument, and allow it at their end."""
    yield _EQUAL, 0, len(steps) + 2, number
    yield _LOAD, 0, 0, _ARGUMENT
    yield from steps
    yield _RETURN, 0, 0, _ALLOW


def _failing(error: int) -> int:
    return _ERRNO | error
