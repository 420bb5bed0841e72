# Anima in one image, for both profiles and every role; ANIMA_PROFILE and ANIMA_ROLES choose.
#   docker build -t anima . && docker run --init --read-only -p 127.0.0.1:8080:8080 -v anima:/data anima
# Without settings it is the embedded profile: one process with its data in /data. Give it a volume, or the data goes with the container.
# The owner key is printed once at the first start and is in /data/owner-key. docker-compose.yml starts the distributed profile.
ARG NODE=24

FROM node:${NODE}-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY workflows workflows
COPY activities activities
COPY projections projections
COPY bench bench
COPY levels levels
RUN npm ci --no-audit --no-fund && npm prune --omit=dev --no-audit --no-fund

FROM node:${NODE}-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 ANIMA_DATA_DIR=/data
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN mkdir /data && chown node:node /data && ln -s /app/dist/src/cli/anima.js /usr/local/bin/anima && chmod +x dist/src/cli/anima.js
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "dist/src/main.js"]
