"""Running untrusted code: the kernel limits its files, network and resources, or it does not run.

`running.run_confined` starts a script; `child` is the process that shuts itself in and then becomes the script; each layer is a file:
`namespaces` (files, network, processes, names of its own), `landlock` (files again), `seccomp` (what may be asked of the kernel),
`rlimits` (time and space; of parsers, too). `isolation` says which of them this machine has. The package has no domain words and is
imported by the child without Django and without the product (ADR 0027).
"""
