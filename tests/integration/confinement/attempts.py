"""Ways out of a confined script, each a few lines that set `escaped` where the effect happened.

`world` holds what is out of reach: paths, ports, a process. ORDINARY ones succeed for any user of a plain machine, and are what the
layers are tested against; the others need root or a certain kernel, or would harm the machine that they succeed on.
"""

from collections.abc import Mapping

HEAD = """
import ctypes, errno, json, os, resource, signal, socket, stat, struct, subprocess, sys, threading, time
world = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"
def call(x86_number, arm_number, *args):
    result = libc.syscall(ctypes.c_long(x86_number if x86 else arm_number), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def reads(path):
    with open(path, "rb") as file:
        return bool(file.read(1))
escaped = False
try:
"""
TAIL = """
except BaseException as problem:
    print("refused:", type(problem).__name__, problem)
print("ESCAPED" if escaped else "kept in", flush=True)
"""

READING: Mapping[str, str] = {
    "a secret": "escaped = reads(world['secret'])",
    "a secret through the C library": "escaped = libc.open(world['secret'].encode(), 0) >= 0",
    "a secret through openat2": "how = struct.pack('QQQ', 0, 0, 0); escaped = call(437, 437, -100, world['secret'].encode(), how, 24) >= 0",
    "a secret by going up": "escaped = reads('../' * 12 + world['secret'])",
    "a secret by a symbolic link": "os.symlink(world['secret'], 'link'); escaped = reads('link')",
    "a secret by a hard link": "os.link(world['secret'], 'link'); escaped = reads('link')",
    "a secret by changing the folder": "os.chdir(os.path.dirname(world['secret'])); escaped = reads(os.path.basename(world['secret']))",
    "a secret by the root of the process": "escaped = reads('/proc/self/root' + world['secret'])",
    "the users of the machine": "escaped = reads('/etc/passwd')",
    "the product's code": "escaped = reads(world['product'])",
    "the folders of the machine": "escaped = 'etc' in os.listdir('/')",
    "the names beside a secret": "escaped = bool(os.listdir(os.path.dirname(world['secret'])))",
    "the environment of the parent": "escaped = reads(f'/proc/{os.getppid()}/environ')",
    "the environment of another process": "escaped = reads(f\"/proc/{world['victim']}/environ\")",
    "the command line of another process": "escaped = reads(f\"/proc/{world['victim']}/cmdline\")",
    "which processes there are": "escaped = any(name.isdigit() and int(name) not in (1, 2, os.getpid()) for name in os.listdir('/proc'))",
    "its own environment": "escaped = any('SECRET' in name for name in os.environ)",
    "what the kernel knows of it": "escaped = reads('/proc/self/environ') or reads('/proc/self/status')",
    "changes of a file": "escaped = libc.inotify_add_watch(libc.inotify_init(), world['secret'].encode(), 2) >= 0",
}

WRITING: Mapping[str, str] = {
    "beside a secret": "open(os.path.join(os.path.dirname(world['secret']), 'new'), 'w').close(); escaped = True",
    "into a secret": "open(world['secret'], 'a').close(); escaped = True",
    "a secret to nothing": "os.truncate(world['secret'], 0); escaped = True",
    "a secret to nothing by reading it": "os.open(world['secret'], os.O_RDONLY | os.O_TRUNC); escaped = True",
    "the rights of a secret": "os.chmod(world['secret'], 0o777); escaped = True",
    "the times of a secret": "os.utime(world['secret'], (1, 1)); escaped = True",
    "the name of a secret": "os.rename(world['secret'], world['secret'] + '.away'); escaped = True",
    "a secret away": "os.unlink(world['secret']); escaped = True",
    "a folder": "os.mkdir(os.path.join(os.path.dirname(world['secret']), 'folder')); escaped = True",
    "its own script": "open(sys.argv[0], 'a').close(); escaped = True",
    "the installed libraries": "import docx; open(docx.__file__, 'a').close(); escaped = True",
    "a program with somebody's rights": "open('program', 'w').close(); os.chmod('program', 0o4755); escaped = True",
}

NETWORK: Mapping[str, str] = {
    "a service by TCP": "socket.create_connection(('127.0.0.1', world['tcp']), 2).close(); escaped = True",
    "a service by TCP through the C library": "escaped = libc.socket(2, 1, 0) >= 0",
    "a datagram": "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', 9)); escaped = True",
    "a service by its socket file": "s = socket.socket(socket.AF_UNIX); s.connect(world['unix']); escaped = True",
    "a service by an abstract socket": "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + world['abstract']); escaped = True",
    "a port of its own": "s = socket.socket(); s.bind(('0.0.0.0', 0)); s.listen(); escaped = True",
    "the routes of the machine": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close(); escaped = True",
}

PROCESSES: Mapping[str, str] = {
    "a copy of itself": "pid = os.fork(); os._exit(0) if not pid else os.waitpid(pid, 0); escaped = True",
    "a copy of itself by clone": "pid = call(56, 220, 17, 0, 0, 0, 0); os._exit(0) if not pid else os.waitpid(pid, 0); escaped = True",
    "a copy of itself by clone3": (
        "told = struct.pack('8Q', 0, 0, 0, 0, 17, 0, 0, 0)\n"
        "    pid = call(435, 435, told, 64); os._exit(0) if not pid else os.waitpid(pid, 0); escaped = True"
    ),
    "a shell": "subprocess.run(['/bin/sh', '-c', 'exit 0'], check=True); escaped = True",
    "a program by posix_spawn": "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0); escaped = True",
    "a program in its place": "os.execv('/bin/echo', ['echo', 'ESCAPED'])",
    "a program out of memory": "handle = os.memfd_create('program'); os.write(handle, b'x'); escaped = True",
    "a signal to another process": "os.kill(world['victim'], 0); escaped = True",
    "a signal by tgkill": "call(234, 131, world['victim'], world['victim'], 0); escaped = True",
    "a signal by a file": "import fcntl; fcntl.fcntl(os.pipe()[0], 8, world['victim']); escaped = True",
    "a handle of another process": "escaped = os.pidfd_open(world['victim']) >= 0",
    "a signal to its parent": "os.kill(os.getppid(), 0); escaped = os.getppid() != 0",
    "the limits of another process": "escaped = bool(resource.prlimit(world['victim'], resource.RLIMIT_NOFILE))",
    "the priority of another process": "os.setpriority(os.PRIO_PROCESS, world['victim'], 19); escaped = True",
}

KERNEL: Mapping[str, str] = {
    "a namespace of users": "call(272, 97, 0x10000000); escaped = True",
    "user faults": "escaped = call(323, 282, 1) >= 0",
    "a key": "escaped = call(248, 217, b'user', b'name', b'x', 1, -3) > 0",
    "a key by asking for it": "call(250, 219, 0, -3, 1); escaped = True",
    "shared memory": "escaped = call(29, 194, 0, 4096, 0o1600) >= 0",
    "a message queue": "escaped = call(68, 186, 0, 0o1600) >= 0",
    "its own traces": "call(157, 167, 4, 1, 0, 0, 0); escaped = True",
    "a further Landlock": "escaped = call(444, 444, struct.pack('Q', 1), 8, 0) >= 0",
    "the personality of the process": "call(135, 92, 0x0040000); escaped = True",
}
ORDINARY: Mapping[str, str] = {
    f"{area}: {name}": code
    for area, attempts in (
        ("read", READING),
        ("write", WRITING),
        ("reach", NETWORK),
        ("start", PROCESSES),
        ("ask", KERNEL),
    )
    for name, code in attempts.items()
}

POWERFUL: Mapping[str, str] = {
    "trace: another process": "call(101, 117, 0x4206, world['victim'], 0, 0); escaped = True",
    "trace: its parent": "call(101, 117, 0x4206, os.getppid(), 0, 0); escaped = True",
    "trace: memory of another process": (
        "b = ctypes.create_string_buffer(8); v = struct.pack('QQ', ctypes.addressof(b), 8)\n"
        "    call(310, 270, world['victim'], v, 1, v, 1, 0); escaped = True"
    ),
    "trace: memory of the parent as a file": "escaped = bool(open(f'/proc/{os.getppid()}/mem', 'rb'))",
    "mount: a file system": "call(165, 40, b'none', b'.', b'tmpfs', 0, 0); escaped = True",
    "mount: away": "call(166, 39, b'/', 2); escaped = True",
    "mount: another root": "os.chroot('.'); escaped = True",
    "mount: by the new calls": "escaped = call(430, 430, b'tmpfs', 0) >= 0",
    "mount: another world": "call(308, 268, 0, 0); escaped = True",
    "file: by its handle": "call(304, 265, -100, bytes(64), 0); escaped = True",
    "file: a device": "os.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(254, 0)); escaped = True",
    "file: the memory of the machine": "escaped = bool(open('/dev/mem', 'rb'))",
    "file: the owner of a secret": "os.chown(world['secret'], 12345, 12345); escaped = True",
    "file: a mark of a secret": "os.setxattr(world['secret'], 'user.x', b'x'); escaped = True",
    "ask: BPF": "escaped = call(321, 280, 0, bytes(128), 128) >= 0",
    "ask: io_uring": "escaped = call(425, 425, 4, ctypes.create_string_buffer(256)) >= 0",
    "ask: counters of the processor": "escaped = call(298, 241, bytes(128), 0, -1, -1, 0) >= 0",
    "ask: a module": "call(313, 273, 0, b'', 0); escaped = True",
    "ask: the log of the kernel": "escaped = call(103, 116, 3, ctypes.create_string_buffer(64), 64) >= 0",
    "ask: a socket of the host": "escaped = bool(socket.socket(40, socket.SOCK_STREAM))",
    "ask: watch all files": "escaped = call(300, 262, 0, 0) >= 0",
    "be: root": "os.setuid(0); escaped = os.getuid() == 0",
    "be: another user": "os.setresuid(1, 1, 1); escaped = True",
    "be: powerful again": "escaped = libc.capset(struct.pack('Ii', 0x20080522, 0), struct.pack('6I', *[2**32 - 1] * 6)) == 0",
    "be: a machine of another name": "socket.sethostname('escaped'); escaped = True",
    "be: unlimited": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); escaped = True",
    "be: unlimited in processor time": "resource.setrlimit(resource.RLIMIT_CPU, (-1, -1)); escaped = True",
    "be: at a terminal": "call(16, 29, 0, 0x5412, b'x'); escaped = True",
    "call: by the other table of numbers": "escaped = x86 and call(0x40000000 | 41, -1, 2, 1, 0) >= 0",
    "call: by a gate of 32 bits": (
        "import mmap\n"
        "    code = mmap.mmap(-1, 4096, prot=7); code.write(bytes.fromhex('53b867010000bb02000000b901000000ba00000000cd805bc3'))\n"
        "    gate = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code))); escaped = x86 and gate() >= 0"
    ),
}  # fmt: skip

EVERY: Mapping[str, str] = {**ORDINARY, **POWERFUL}


def script(code: str) -> bytes:
    """A whole script that tries this and says how it went."""
    return f"{HEAD}    {code}\n{TAIL}".encode()
