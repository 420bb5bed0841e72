import { readFileSync } from 'node:fs';

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { createMetrics } from '../../../src/adapters/prometheus/metrics.js';
import { statuses } from '../../../src/kernel/http/statuses.js';
import { docsFilePath, ownFiles, viewerFiles } from '../../../src/kernel/http/docs-files.js';
import { createLifecycle } from '../../../src/kernel/http/lifecycle.js';
import { openApi } from '../../../src/kernel/http/openapi.js';
import type { RouteDefinition } from '../../../src/kernel/http/route.js';
import { statusRoutes } from '../../../src/kernel/http/status.js';
import { startApp, type TestApp } from '../../support/http.js';
import { looseRoute, openRoute } from './fake-routes.js';

const lifecycle = createLifecycle();
const routes: readonly RouteDefinition[] = [
  looseRoute,
  openRoute,
  ...statusRoutes({ lifecycle, metrics: createMetrics(), dependencies: () => ({}), allRoutes: () => routes }),
];
let app: TestApp;
beforeAll(async () => {
  app = await startApp(routes, { lifecycle });
  lifecycle.ready();
});
afterAll(() => app.stop());

const anonymous = { authorization: '' };
const typeByEnding: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

describe('the docs page', () => {
  const page = () => app.get('/docs', anonymous);

  it('may load from this server alone, and runs nothing inline [10.9d]', async () => {
    const { headers, text } = await page();
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const scripts = Array.from(text.matchAll(/<script([^>]*)>([^<]*)/g), ([, names = '', content]) => [
      /src="\/docs\//.test(names),
      content,
    ]);
    expect(scripts).toEqual([
      [true, ''],
      [true, ''],
    ]);
    expect(text).not.toMatch(/<style|<[^>]+\s(style|on\w+)=|javascript:/i);
  });

  it('names only files of this server, and each is there with its type', async () => {
    const { text } = await page();
    expect(text).not.toMatch(/https?:|["']\/\//);
    const named = Array.from(text.matchAll(/(?:href|src)="([^"]*)"/g), ([, name = '']) => name);
    const files = new Set(named.filter((name) => !name.startsWith('#') && name !== 'data:,'));
    expect([...files].sort()).toEqual([
      '/docs/docs.css',
      '/docs/docs.js',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
      '/openapi.json',
    ]);
    for (const file of files) {
      const { status, headers } = await app.get(file, anonymous);
      expect([file, status, headers.get('content-type')]).toEqual([file, 200, typeByEnding[file.split('.')[1] ?? '']]);
    }
  });

  it('lists every error code, and shows what is written [1.5b, 10.9b]', async () => {
    const { text } = await page();
    for (const [code, status] of Object.entries(statuses)) {
      expect(text).toContain(`<td>${status}</td><td><code>${code}</code>`);
    }
    expect(text).toContain('send &quot;Authorization: Bearer &lt;key&gt;&quot;');
  });
});

describe('a file of the docs page', () => {
  it('is sent again only when it changed [10.9c]', async () => {
    const first = await app.get('/docs/swagger-ui.css', anonymous);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    expect(first.headers.get('x-content-type-options')).toBe('nosniff');
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text, headers } = await app.get('/docs/swagger-ui.css', { 'if-none-match': known });
      expect([known, status, text, headers.get('etag')]).toEqual([known, 304, '', etag]);
    }
    const other = await app.get('/docs/swagger-ui.css', { 'if-none-match': '"other"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
  });

  it('is 404 under any other name [10.9c]', async () => {
    for (const name of ['nothing.js', 'package.json', 'swagger-ui.css.map', 'constructor', '__proto__']) {
      expect([name, (await app.get(`/docs/${name}`, anonymous)).status]).toEqual([name, 404]);
    }
    expect((await app.get('/docs/..%2fdocs-page.ts', anonymous)).status).toBe(400);
  });

  it('is sent byte for byte, the licences of the viewer too', async () => {
    for (const name of [...Object.keys(ownFiles), ...Object.keys(viewerFiles)]) {
      const path = name in ownFiles ? docsFilePath(name) : `node_modules/swagger-ui-dist/${name}`;
      const { text } = await app.get(`/docs/${name}`, anonymous);
      expect([name, text === readFileSync(path, 'utf8')]).toEqual([name, true]);
    }
  });

  it('fetches nothing from elsewhere when it is loaded [10.9d]', async () => {
    for (const name of ['docs.css', 'swagger-ui.css']) {
      expect((await app.get(`/docs/${name}`)).text).not.toMatch(/@import|url\((?!["']?data:)/);
    }
    expect((await app.get('/docs/docs.js')).text).not.toMatch(/https?:|\/\/\w/);
    const bundle = (await app.get('/docs/swagger-ui-bundle.js')).text;
    // Of what it could ask by itself there is one address, which the page's settings take away.
    expect([...new Set(bundle.match(/https?:\/\/validator[^"'`\s]*/g))]).toEqual([
      'https://validator.swagger.io/validator',
    ]);
    expect(bundle).not.toMatch(/sendBeacon|importScripts|fonts\.googleapis|unpkg\.com|jsdelivr|scarf\.sh/);
  });
});

describe('the script of the docs page', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  type Options = Record<string, unknown> & { readonly tagsSorter: (one: string, other: string) => number };
  /** Runs the script as a browser would, up to the viewer's start. */
  const run = async (hash: string, answer: { ok: boolean; status?: number; json?: () => unknown }) => {
    const api = { textContent: '' };
    const fetched = vi.fn(() => Promise.resolve(answer));
    const replaceState = vi.fn();
    const start = vi.fn<(options: Options) => void>();
    vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }));
    vi.stubGlobal('document', { documentElement: { classList: { toggle: () => false } }, querySelector: () => api });
    vi.stubGlobal('location', { hash });
    vi.stubGlobal('history', { replaceState });
    vi.stubGlobal('fetch', fetched);
    vi.stubGlobal('SwaggerUIBundle', start);
    await import(docsFilePath('docs.js'));
    return { api, fetched, replaceState, options: start.mock.calls[0]?.[0] };
  };
  const document = () => ({ ok: true, json: () => openApi(routes) });

  it('shows the document of this server, asks no validator, and keeps no key', async () => {
    const { fetched, options } = await run('', document());
    expect(fetched.mock.calls).toEqual([['/openapi.json']]);
    expect(options).toMatchObject({
      dom_id: '#api',
      filter: true,
      tryItOutEnabled: true,
      validatorUrl: null,
      persistAuthorization: false,
      spec: { openapi: '3.1.0' },
    });
    expect(['(ext)', 'Server', 'NPCs'].sort(options?.tagsSorter)).toEqual(['Server', 'NPCs', '(ext)']);
  });

  it.each([
    ['#loose', '#/Fake/loose'],
    ['#getDocs', '#/Server/getDocs'],
  ])('opens the route that %s names', async (hash, opened) => {
    const { replaceState } = await run(hash, document());
    expect(replaceState.mock.calls).toEqual([[null, '', opened]]);
  });

  it.each(['', '#errors', '#/Fake/loose', '#%'])('leaves the fragment %j as it is', async (hash) => {
    const { replaceState, options } = await run(hash, document());
    expect([replaceState.mock.calls, options === undefined]).toEqual([[], false]);
  });

  it('tells the reader when there is no document', async () => {
    const { api, options } = await run('', { ok: false, status: 503 });
    expect(options).toBeUndefined();
    expect(api.textContent).toContain('503');
  });
});
