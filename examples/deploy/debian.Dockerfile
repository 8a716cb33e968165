# What "make image-debian" builds the image of Patchbay on: a Debian with what plugins in Python and Node need, the programs that copy a
# PostgreSQL database, and the user of the image.
ARG DEBIAN_BASE
FROM ${DEBIAN_BASE}
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates nodejs postgresql-client python3 python3-grpcio python3-protobuf \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb \
 && groupadd --gid 10001 patchbay \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin patchbay
