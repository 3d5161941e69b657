#   docker build --tag versiongate:local .                       server and command line
#   docker build --tag versiongate:example --target example .    the same with a PostgreSQL of its own, for a try:
#   docker run --rm --publish 127.0.0.1:8080:8080 --publish 127.0.0.1:9090:9090 versiongate:example

FROM swift:6.3-bookworm AS build

RUN apt-get update \
    && apt-get install --yes --no-install-recommends libpq-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /build

# The manifest then names no target of tests and benchmarks, whose folders are not here.
ENV VERSIONGATE_SERVER_ALONE=1
# The packages it depends on change seldom: a layer of their own. (Package.resolved need not be there.)
COPY Package.* ./
RUN swift package resolve

COPY Documentation/openapi-server.yaml ./Documentation/openapi-server.yaml
COPY Documentation/openapi.yaml ./Documentation/openapi.yaml
COPY Migrations ./Migrations
COPY Plugins ./Plugins
COPY Sources ./Sources
COPY script/build ./script/build
RUN install -D "$(script/build -Xlinker --strip-all)" /out/versiongate


FROM debian:bookworm-slim AS base

# libpq5 is the one library that the binary needs beyond the base system; ca-certificates are for a database over TLS.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libpq5 libstdc++6 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 versiongate \
    && useradd --system --uid 10001 --gid versiongate --home-dir /var/lib/versiongate --no-create-home \
        --shell /usr/sbin/nologin versiongate \
    && install --directory --owner=versiongate --group=versiongate --mode=0700 /var/lib/versiongate

# The state folder keeps the last good policy, which a start without a database answers from. The management listener has
# no authentication. It is open inside the container's network, where health checks and scrapers are; it is not in
# EXPOSE, so that `docker run --publish-all` does not open it to everybody.
ENV VERSIONGATE_STATE_DIR=/var/lib/versiongate \
    VERSIONGATE_MANAGEMENT_HOST=0.0.0.0
EXPOSE 8080

# /live, for what restarts a container that is unhealthy: a server that waits for its database, or drains, is not ready
# but lives. Ask /ready (`healthcheck /ready`) for what only sends it no clients.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["healthcheck", "/live"]

COPY deploy/healthcheck deploy/entrypoint /usr/local/bin/
ENTRYPOINT ["entrypoint"]


FROM base AS example

RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-common \
    && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
    && apt-get install --yes --no-install-recommends postgresql \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/versiongate /usr/local/bin/versiongate
USER 10001:10001
CMD ["serve", "--example"]


# There is no PostgreSQL in this image: DATABASE_URL is required.
FROM base

COPY --from=build /out/versiongate /usr/local/bin/versiongate
USER 10001:10001
CMD ["serve"]
