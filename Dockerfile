# operator-rs in an image, for pipelines that run containers:
#   docker run --rm --user "$(id -u)" --volume "$PWD:/work" IMAGE manifests --check
# There is no cargo in it (for `test` and `--compile`) and no git (for `crds diff REVISION`).
#
# The images are pinned by digest, because tags move. Dependabot updates the digests.

# Builds a static binary: the final image has no libc.
FROM docker.io/library/rust:1-alpine@sha256:a10e64dd139b7387337c7fbe8aca31b959b57b2fd4c8ae20a02cf1d6ea424dce AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin operator-rs

FROM gcr.io/distroless/static:nonroot@sha256:e2e927ec666bae08560abb3c55d0659eceabb657f56b6782ab500a9fc7f555e3
COPY --from=build /src/target/release/operator-rs /usr/local/bin/operator-rs
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/operator-rs"]
