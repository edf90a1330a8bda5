"""The addresses of OpenAI's API, so that its clients and chat front ends work with a token: `base_url` is this site and `/v1`."""
