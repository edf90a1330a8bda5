"""OpenAI-compatible endpoints for its clients and chat front ends: `base_url` is this site and `/v1`, the key a token."""
