"""Skills: folders of instructions and scripts that somebody reviewed, which a model reads when it needs them.

`packages` reads what is uploaded, `models` keeps it, `keeping` are the services (upload, review, switch on, bind), `offered` says what a
run is told, `scripts` runs a script confined by `copilot_site.lib.confinement`, `files` keeps what it made for whoever asked
(ADR 0033).
"""
