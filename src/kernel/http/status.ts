import { isIPv6 } from 'node:net';

import { Type } from '@sinclair/typebox';
import type { Context } from 'koa';

import { defined } from '../base/defined.js';
import { Rejection } from '../base/rejection.js';
import type { Metrics } from '../../ports/metrics.js';
import { apiVersion } from './api-version.js';
import { openDocsFiles } from './docs-files.js';
import { docsPage, docsPagePolicy, errorsPage } from './docs-page.js';
import { namesTag } from './entity-tag.js';
import type { Lifecycle } from './lifecycle.js';
import { openApi } from './openapi.js';
import { type Answer, ok, route, type RouteDefinition } from './route.js';

/** How one dependency does; `detail` is for people. */
export type DependencyState = {
  readonly ok: boolean;
  readonly detail?: string;
  /** For the log alone: it may name addresses and users. */
  readonly failure?: unknown;
  /** False if this process can do most of its work without the dependency; its failure then does not make the process unready. */
  readonly needed?: boolean;
};

export type StatusDeps = {
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  /** Asked at each `GET /readyz`; answers within its own time limit. */
  readonly dependencies: () =>
    Readonly<Record<string, DependencyState>> | Promise<Readonly<Record<string, DependencyState>>>;
  /** Every route of the server, these included: what the OpenAPI document is made from, once. */
  readonly allRoutes: () => readonly RouteDefinition[];
};

/** Headers that a proxy adds. With one of them, the peer's address does not show where the request comes from. */
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

const Dependency = Type.Object({
  ok: Type.Boolean(),
  detail: Type.Optional(Type.String()),
  needed: Type.Optional(Type.Boolean()),
});

const shown = ({ ok, detail, needed }: DependencyState) => ({ ok, ...defined({ detail, needed }) });

const common = { tag: 'Server', scope: null } as const;

/** The server's own routes: status, health, metrics, and the documents made from the route list. */
export const statusRoutes = (deps: StatusDeps): readonly RouteDefinition[] => {
  const document = once(() => JSON.stringify(openApi(deps.allRoutes())));
  const docs = htmlPage(docsPage);
  const errors = htmlPage(errorsPage);
  const docsFile = openDocsFiles();
  return [
    route('GET', '/status', {
      ...common,
      operationId: 'getStatus',
      summary: 'Whether the server lives, and its API version',
      always: true,
      responses: ok(
        'The process lives.',
        Type.Object({ status: Type.Literal('online'), version: Type.String(), phase: Type.String() }),
      ),
      handler: () => ({ body: { status: 'online', version: apiVersion, phase: deps.lifecycle.phase } }),
    }),
    route('GET', '/livez', {
      ...common,
      operationId: 'getLivez',
      summary: 'Whether the process lives',
      always: true,
      ext: true,
      responses: ok('It does.', Type.Object({ live: Type.Literal(true) })),
      handler: () => ({ body: { live: true } }),
    }),
    route('GET', '/readyz', {
      ...common,
      operationId: 'getReadyz',
      summary: 'Whether this process can do its work, and the state of each dependency',
      always: true,
      ext: true,
      responses: {
        200: {
          description: 'Ready.',
          schema: Type.Object({ ready: Type.Boolean(), dependencies: Type.Record(Type.String(), Dependency) }),
        },
        503: { description: 'Not ready: the same shape, with `ready: false`.' },
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
      summary: 'Metrics for Prometheus',
      description: 'Needs the scope `ops`, except for a request from this machine without a proxy in between.',
      scope: 'ops',
      openTo: fromLoopback,
      ext: true,
      responses: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
      handler: async () => ({ raw: await deps.metrics.render() }),
    }),
    route('GET', '/openapi.json', {
      ...common,
      operationId: 'getOpenApi',
      summary: 'This interface as an OpenAPI 3.1 document',
      ext: true,
      responses: { 200: { description: 'The document.', contentType: 'application/json' } },
      handler: () => ({ raw: { type: 'application/json; charset=utf-8', content: document() } }),
    }),
    route('GET', '/', {
      ...common,
      operationId: 'getRoot',
      summary: 'Redirects a browser to the documentation',
      description: 'Every client that does not prefer `text/html` in `Accept` gets 404.',
      ext: true,
      responses: { 302: { description: 'The documentation is at `/docs`.' } },
      handler: ({ koa }) => {
        koa.vary('Accept');
        // What comes first is chosen when the client accepts both alike.
        if (koa.accepts('application/json', 'text/html') !== 'text/html') throw new Rejection('NOT_FOUND');
        return { status: 302, headers: { Location: '/docs' } };
      },
    }),
    route('GET', '/docs', {
      ...common,
      operationId: 'getDocs',
      summary: 'The API documentation as a page (HTML)',
      ext: true,
      responses: { 200: { description: 'The page.', contentType: 'text/html' } },
      handler: docs,
    }),
    route('GET', '/docs/errors', {
      ...common,
      operationId: 'getDocsErrors',
      summary: 'All error codes as a page (HTML)',
      ext: true,
      responses: { 200: { description: 'The page.', contentType: 'text/html' } },
      handler: errors,
    }),
    route('GET', '/docs/:file', {
      ...common,
      operationId: 'getDocsFile',
      summary: 'A script, style sheet or licence of the docs page',
      ext: true,
      params: Type.Object({ file: Type.String() }),
      responses: {
        200: { description: 'The file.', contentType: 'text/*' },
        304: { description: 'The file is the one that `If-None-Match` names.' },
      },
      handler: (call) => {
        const file = docsFile(call.params.file);
        if (file === null) throw new Rejection('NOT_FOUND');
        const headers = { 'Cache-Control': 'no-cache', ETag: file.etag, 'X-Content-Type-Options': 'nosniff' };
        if (namesTag(call.header('if-none-match') ?? '', file.etag)) return { status: 304, headers };
        return { headers, raw: file };
      },
    }),
  ];
};
