"""Skills: folders of instructions and scripts that somebody reviewed, which a model reads when it needs them.

`packages` reads what is uploaded, `shipped_skills` those of ours; `services` is what people do with them (upload, review, switch on,
bind), `looking` what a reviewer sees; `catalog` says what a run is told, `files` keeps what a script made for whoever asked. Scripts run
confined by `copilot_site.lib.confinement` (ADR 0027).
"""
