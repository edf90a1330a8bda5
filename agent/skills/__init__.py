"""Skills: reviewed folders of instructions and scripts, which a model reads when it needs them.

`packages` reads uploads, `shipped_skills` our own; `services` has the administrators' actions (upload, review, enable,
bind); `catalog` lists skills for a run. Scripts run confined by `copilot_site.lib.confinement` (ADR 0027).
"""
