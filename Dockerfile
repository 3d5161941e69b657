# syntax=docker/dockerfile:1
# SPDX-License-Identifier: Apache-2.0
# Copyright the versiongate authors

FROM swift:6.3-bookworm AS build

RUN apt-get update \
    && apt-get install --yes --no-install-recommends libpq-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /build

# The packages it depends on change seldom: a layer of their own. (Package.resolved need not be there.)
COPY Package.* ./
RUN swift package resolve

# The manifest names the targets of tests and benchmarks, so their folders must be there, though nothing of them is built.
COPY Benchmarks ./Benchmarks
COPY Documentation/openapi-server.yaml ./Documentation/openapi-server.yaml
COPY Documentation/openapi.yaml ./Documentation/openapi.yaml
COPY Migrations ./Migrations
COPY Plugins ./Plugins
COPY Sources ./Sources
COPY Tests ./Tests
COPY script/build ./script/build
RUN install -D "$(script/build -Xlinker --strip-all)" /out/versiongate


FROM debian:bookworm-slim

# libpq5 is the one library that the binary needs beyond the base system; ca-certificates are for a database over TLS.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libpq5 libstdc++6 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin versiongate \
    && install --directory --owner=versiongate --group=versiongate --mode=0700 /var/lib/versiongate

COPY --from=build /out/versiongate /usr/local/bin/versiongate
COPY deploy/healthcheck /usr/local/bin/healthcheck

# The state folder keeps the last good policy, which a start without a database answers from. There is no PostgreSQL in
# this image: DATABASE_URL is required. The management listener has no authentication. It is open inside the container's
# network, where health checks and scrapers are; it is not in EXPOSE, so that `docker run --publish-all` does not open it
# to everybody.
ENV VERSIONGATE_STATE_DIR=/var/lib/versiongate \
    VERSIONGATE_MANAGEMENT_HOST=0.0.0.0
EXPOSE 8080
USER 10001:10001

# /live, for what restarts a container that is unhealthy: a server that waits for its database, or drains, is not ready
# but lives. Ask /ready (`healthcheck /ready`) for what only sends it no clients.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["healthcheck", "/live"]

ENTRYPOINT ["versiongate"]
CMD ["serve"]
