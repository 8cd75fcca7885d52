# One file, three images: docker build --target api|worker|dashboard .
# Each is also a base image for an application (docs/own-application.md).

# Pinned by digest if one is known: node:24-trixie-slim@sha256:… (make pin).
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS sources
WORKDIR /longshore
COPY . .

# Only the manifests, so that a changed source file does not repeat the installation.
FROM sources AS manifests
RUN find . -type f ! -name package.json ! -name package-lock.json -delete && find . -type d -empty -delete

FROM ${NODE_IMAGE} AS build
WORKDIR /longshore
COPY --from=manifests /longshore ./
RUN --mount=type=cache,target=/root/.npm \
  npm ci --ignore-scripts --no-audit --no-fund --include-workspace-root \
  --workspace=services/api --workspace=services/worker --workspace=services/dashboard --workspace=shared/example-shop
COPY . .
RUN npx tsc -b services/api services/worker services/dashboard shared/example-shop

# In a stage of its own, so that only another version repeats it.
FROM ${NODE_IMAGE} AS renderer
WORKDIR /longshore/shared/resources
COPY shared/resources/package.json ./
COPY shared/resources/scripts scripts
COPY shared/resources/assets assets
RUN --mount=type=cache,target=/root/.npm node scripts/build-renderer.ts

FROM build AS api-files
COPY --from=renderer /longshore/shared/resources/assets shared/resources/assets
RUN --mount=type=cache,target=/root/.npm node containers/assemble.ts api /out shared/example-shop

FROM build AS worker-files
RUN --mount=type=cache,target=/root/.npm node containers/assemble.ts worker /out shared/example-shop

FROM build AS dashboard-files
RUN --mount=type=cache,target=/root/.npm node containers/assemble.ts dashboard /out

FROM ${NODE_IMAGE} AS service
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps HOST=0.0.0.0 WORKER_RESULTS_DIR=/var/lib/longshore/results
# An application's modules find Longshore's packages in the parent directory, next to which `npm ci` installs its own.
RUN install -d -o node -g node /var/lib/longshore/results /longshore/app
WORKDIR /longshore/app
# A numeric id, by which Kubernetes can verify that it is not root.
USER 1000:1000
# Readiness rather than liveness: traffic and dependent containers wait until the storage is reachable and migrated.
# Uses node:http, because each check is a new process, and loading fetch would take more than half of its time.
# Each check starts Node.js, which takes seconds on a busy machine.
HEALTHCHECK --interval=5s --timeout=10s --start-period=120s --retries=5 \
  CMD ["node", "-e", "require('http').get(`http://127.0.0.1:${process.env.PORT}/readyz`, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]

FROM service AS api
ENV PORT=8080
EXPOSE 8080
COPY --from=api-files /out/dependencies /longshore/
COPY --from=api-files /out/app /longshore/
CMD ["node", "/longshore/services/api/dist/main.js"]

FROM service AS worker
ENV PORT=8082
EXPOSE 8082
COPY --from=worker-files /out/dependencies /longshore/
COPY --from=worker-files /out/app /longshore/
CMD ["node", "/longshore/services/worker/dist/main.js"]

FROM service AS dashboard
ENV PORT=8081
EXPOSE 8081
COPY --from=dashboard-files /out/dependencies /longshore/
COPY --from=dashboard-files /out/app /longshore/
CMD ["node", "/longshore/services/dashboard/dist/main.js"]
