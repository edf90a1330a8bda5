# syntax=docker/dockerfile:1
# One image for web, workers and beat. The embedded services are not used in it: DATABASE_URL and REDIS_URL name real ones.
# A tag moves. A release is built with a digest: --build-arg PYTHON_IMAGE=python@sha256:… (docs/DEPENDENCIES.md says how it is found).
ARG PYTHON_IMAGE=python:3.11.14-slim-bookworm
FROM ${PYTHON_IMAGE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# hadolint ignore=DL3008 # Debian keeps no older versions to pin to: the image's digest fixes what is there
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev libldap2-dev libsasl2-dev && rm -rf /var/lib/apt/lists/*
RUN python -m venv /venv
WORKDIR /app
COPY requirements requirements
# torch by itself, from the index of CPU builds: the default one for Linux brings several GB of CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN /venv/bin/pip install --require-hashes --no-deps -r requirements/base.txt \
 && /venv/bin/pip install torch==2.13.0 --index-url ${TORCH_INDEX} \
 && /venv/bin/pip install --require-hashes --no-deps -r requirements/models.txt -r requirements/s3.txt -r requirements/ldap.txt \
    -r requirements/telemetry.txt
COPY . .
# Converted models, compiled code and collected static files are part of the image: a container starts in seconds and writes nothing.
ENV COPILOT_HOME=/srv/copilot COPILOT_STATIC_ROOT=/app/staticfiles
RUN /venv/bin/python manage.py prepare_model && /venv/bin/python manage.py collectstatic --no-input \
 && /venv/bin/python -m compileall -q /app /venv/lib \
 && rm -f /srv/copilot/secrets.json && mkdir -p /srv/copilot/audit /srv/copilot/sources

FROM ${PYTHON_IMAGE}
# OpenLDAP's client, which python-ldap was built against
# hadolint ignore=DL3008 # see above
RUN apt-get update && apt-get install -y --no-install-recommends libldap-2.5-0 ca-certificates && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /srv/copilot --shell /usr/sbin/nologin copilot
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY --from=build --chown=10001:10001 /srv/copilot /srv/copilot
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/tmp \
    COPILOT_HOME=/srv/copilot COPILOT_STATIC_ROOT=/app/staticfiles
WORKDIR /app
USER 10001
EXPOSE 8000
# Of the web process: workers and beat have checks of their own in docker-compose.yml. Without `site` it takes 30 ms.
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s \
  CMD ["python", "-IS", "-c", "from http.client import HTTPConnection as C; c = C('localhost', 8000, timeout=5); c.request('GET', '/readyz'); exit(c.getresponse().status != 200)"]
# After SIGTERM streams have half a minute to end; who stops the container waits a little longer.
CMD ["uvicorn", "copilot_site.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-access-log", "--lifespan", "off", "--timeout-graceful-shutdown", "30", "--timeout-keep-alive", "75", "--timeout-worker-healthcheck", "30"]
