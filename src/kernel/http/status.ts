import { isIPv6 } from 'node:net';

import { Type } from '@sinclair/typebox';
import type { Context } from 'koa';

import { defined } from '../base/defined.js';
import { inSlices } from '../concurrency/in-slices.js';
import { Rejection } from '../base/rejection.js';
import type { Metrics } from '../../ports/metrics.js';
import { localTenant } from '../base/stream-names.js';
import { apiVersion } from './api-version.js';
import { type DocsFile, openDocsFiles } from './docs-files.js';
import { docsPage, docsPagePolicy, errorsPage } from './docs-page.js';
import { namesTag, tagOf } from './entity-tag.js';
import type { Lifecycle } from './lifecycle.js';
import { openApiSlices } from './openapi/document.js';
import { named } from './named.js';
import { JSON_TYPE } from './respond.js';
import { type Answer, type Call, ok, route, type RouteDefinition } from './route.js';
import { oneOf, pathId } from './schemas.js';

/** The state of a dependency; `detail` is for humans. */
export type DependencyState = {
  readonly ok: boolean;
  readonly detail?: string;
  /** Only for the log: it may contain addresses and users. */
  readonly failure?: unknown;
  /** False if this process can do most of its work without the dependency; its failure then does not make the process unready. */
  readonly needed?: boolean;
};

export type StatusDeps = {
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  /** Called for each `GET /readyz`; returns within its own time limit. */
  readonly dependencies: () =>
    Readonly<Record<string, DependencyState>> | Promise<Readonly<Record<string, DependencyState>>>;
  /** Every route of the server, including these; the OpenAPI document is made from them once. */
  readonly allRoutes: () => readonly RouteDefinition[];
};

/** Headers that a proxy adds. If one is present, the address of the peer does not show the origin of the request. */
const proxyHeader =
  /^(forwarded|via|x-(original-)?forwarded(-.*)?|x-(real|client|cluster-client)-ip|x-envoy-external-address|(cf-connecting|true-client|fastly-client)-ip)$/;

/** Whether the request comes from this machine itself: `GET /metrics` then needs no key. */
export const fromLoopback = ({ req }: Context): boolean => {
  const address = req.socket.remoteAddress ?? '';
  const plain = isIPv6(address) ? address.replace(/^::ffff:/i, '') : address;
  if (plain !== '::1' && !plain.startsWith('127.')) return false;
  return !Object.keys(req.headers).some((name) => proxyHeader.test(name));
};

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
};

/** Answers with a page that is made once. */
const htmlPage = (make: () => string): (() => Answer) => {
  const page = once(make);
  return () => ({
    headers: { 'Content-Security-Policy': docsPagePolicy, 'X-Content-Type-Options': 'nosniff' },
    raw: { type: 'text/html; charset=utf-8', content: page() },
  });
};

/** Answers with a file, or with 304 if the client has it. */
const fileAnswer = (call: Pick<Call, 'header'>, file: DocsFile): Answer => {
  const headers = { 'Cache-Control': 'no-cache', ETag: file.etag, 'X-Content-Type-Options': 'nosniff' };
  if (namesTag(call.header('if-none-match') ?? '', file.etag)) return { status: 304, headers };
  return { headers, raw: file };
};

/** The OpenAPI document as a file. Other requests are served while it is made. */
const documentFile = async (routes: readonly RouteDefinition[]): Promise<DocsFile> => {
  const content = JSON.stringify(await inSlices(openApiSlices(routes)));
  return { type: JSON_TYPE, content, etag: tagOf(content) };
};

const Dependency = named(
  'Dependency',
  Type.Object({
    ok: Type.Boolean(),
    detail: Type.Optional(Type.String({ description: 'What is wrong, for humans.' })),
    needed: Type.Optional(
      Type.Boolean({ description: 'False if this process can do most of its work without the dependency.' }),
    ),
  }),
);
const Status = named(
  'Status',
  Type.Object({
    status: Type.Literal('online'),
    version: Type.String({ description: 'The version of the API.' }),
    phase: oneOf(['starting', 'ready', 'stopping']),
  }),
);
const Liveness = named('Liveness', Type.Object({ live: Type.Literal(true) }));
const Readiness = named(
  'Readiness',
  Type.Object({ ready: Type.Boolean(), dependencies: Type.Record(Type.String(), Dependency) }),
);
const OpenApiDocument = named(
  'OpenApiDocument',
  Type.Unsafe({ type: 'object', additionalProperties: true, description: 'An OpenAPI 3.1 document.' }),
);
const readiness = (ready: boolean) => ({
  ready,
  dependencies: { eventStore: ready ? { ok: true } : { ok: false, detail: 'It does not respond.' } },
});

/** The message of `GET /` for clients that are not browsers. */
const NO_ROOT = 'This address has no resource; browsers are redirected to /docs. GET /openapi.json lists every route.';

const shown = ({ ok, detail, needed }: DependencyState) => ({ ok, ...defined({ detail, needed }) });

const common = { tag: 'Server', scope: null } as const;

/** The server's own routes: status, health, metrics, and the documents made from the route list. */
export const statusRoutes = (deps: StatusDeps): readonly RouteDefinition[] => {
  let made: Promise<DocsFile> | undefined;
  /** Made once; a failed attempt is not kept. */
  const document = (): Promise<DocsFile> =>
    (made ??= documentFile(deps.allRoutes()).catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
  const docs = htmlPage(docsPage);
  const errors = htmlPage(errorsPage);
  const docsFile = openDocsFiles();
  return [
    route('GET', '/status', {
      ...common,
      operationId: 'getStatus',
      summary: 'Get the status and the API version of the server',
      always: true,
      responses: ok('The server is running.', Status, { status: 'online', version: apiVersion, phase: 'ready' }),
      handler: () => ({ body: { status: 'online', version: apiVersion, phase: deps.lifecycle.phase } }),
    }),
    route('GET', '/livez', {
      ...common,
      operationId: 'getLivez',
      summary: 'Check that the process is alive',
      always: true,
      ext: true,
      responses: ok('The process is alive.', Liveness, { live: true }),
      handler: () => ({ body: { live: true } }),
    }),
    route('GET', '/readyz', {
      ...common,
      operationId: 'getReadyz',
      summary: 'Check that this process is ready, and each dependency',
      always: true,
      ext: true,
      responses: {
        200: { description: 'The process is ready.', schema: Readiness, example: readiness(true) },
        503: { description: 'The process is not ready.', schema: Readiness, example: readiness(false) },
      },
      handler: async () => {
        const states = Object.entries(await deps.dependencies());
        const ready = deps.lifecycle.phase === 'ready' && states.every(([, { ok, needed }]) => ok || needed === false);
        const body = { ready, dependencies: Object.fromEntries(states.map(([name, state]) => [name, shown(state)])) };
        return ready ? { body } : { status: 503, headers: { 'Retry-After': '1' }, body };
      },
    }),
    route('GET', '/metrics', {
      ...common,
      operationId: 'getMetrics',
      summary: 'Get metrics for Prometheus',
      description:
        'They are of the whole server, so that the key must be of the tenant `local`. A request from the same machine needs no key, unless it came through a proxy.',
      scope: 'metrics',
      forbids: ({ tenant }) =>
        tenant === localTenant
          ? null
          : new Rejection('FORBIDDEN', {
              message: 'The metrics are of the whole server: only keys of the tenant "local" may read them.',
            }),
      openTo: fromLoopback,
      ext: true,
      responses: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
      handler: async () => ({ raw: await deps.metrics.render() }),
    }),
    route('GET', '/openapi.json', {
      ...common,
      operationId: 'getOpenApi',
      summary: 'Get this API as an OpenAPI 3.1 document',
      ext: true,
      responses: {
        200: {
          description: 'The document.',
          schema: OpenApiDocument,
          example: { openapi: '3.1.0', info: { title: 'Anima', version: apiVersion }, paths: {} },
        },
        304: { description: '`If-None-Match` names this document.' },
      },
      handler: async (call) => fileAnswer(call, await document()),
    }),
    route('GET', '/', {
      ...common,
      operationId: 'getRoot',
      summary: 'Go to the documentation',
      description: 'Redirects a browser. A client that does not prefer `text/html` in `Accept` gets 404.',
      refuses: ['NOT_FOUND'],
      ext: true,
      responses: { 302: { description: 'The documentation is at `/docs`.' } },
      handler: ({ koa }) => {
        koa.vary('Accept');
        // The first type wins if the client accepts both equally.
        if (koa.accepts('application/json', 'text/html') !== 'text/html')
          throw new Rejection('NOT_FOUND', { message: NO_ROOT });
        return { status: 302, headers: { Location: '/docs' } };
      },
    }),
    route('GET', '/docs', {
      ...common,
      operationId: 'getDocs',
      summary: 'Read the API documentation as a page',
      ext: true,
      responses: { 200: { description: 'The page.', contentType: 'text/html' } },
      handler: docs,
    }),
    route('GET', '/docs/errors', {
      ...common,
      operationId: 'getDocsErrors',
      summary: 'Read the list of error codes as a page',
      ext: true,
      responses: { 200: { description: 'The page.', contentType: 'text/html' } },
      handler: errors,
    }),
    route('GET', '/docs/:file', {
      ...common,
      operationId: 'getDocsFile',
      summary: 'Get a file of the documentation page',
      ext: true,
      params: Type.Object({ file: pathId('The name of the file.', 'docs.css') }),
      refuses: ['NOT_FOUND'],
      responses: {
        200: { description: 'The file.', contentType: 'text/*' },
        304: { description: '`If-None-Match` names this file.' },
      },
      handler: (call) => {
        const file = docsFile(call.params.file);
        if (file === null) throw new Rejection('NOT_FOUND');
        return fileAnswer(call, file);
      },
    }),
  ];
};
