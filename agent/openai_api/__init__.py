"""OpenAI-compatible endpoints, so that its clients and chat front ends work with a token:

`base_url` is this site and `/v1`.
"""
