import { readFileSync } from 'node:fs';

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { createMetrics } from '../../../src/adapters/prometheus/metrics.js';
import { statuses } from '../../../src/kernel/http/statuses.js';
import { docsFilePath, ownFiles, viewerFiles } from '../../../src/kernel/http/docs-files.js';
import { createLifecycle } from '../../../src/kernel/http/lifecycle.js';
import { openApi } from '../../../src/kernel/http/openapi/document.js';
import type { RouteDefinition } from '../../../src/kernel/http/route.js';
import { statusRoutes } from '../../../src/kernel/http/status.js';
import { startApp, type TestApp } from '../../support/http.js';
import { looseRoute, openRoute } from './fake-routes.js';

type OpenApi = {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly requestBody: { readonly content: Record<'application/json', { example?: unknown }> };
        };
      }
    >
  >;
};

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
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

const pages: readonly (readonly [path: string, files: readonly string[]])[] = [
  [
    '/docs',
    [
      '/docs/docs.css',
      '/docs/docs.js',
      '/docs/errors',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
      '/openapi.json',
    ],
  ],
  ['/docs/errors', ['/docs', '/docs/docs.css', '/openapi.json']],
];

describe.each(pages)('the page %s', (path, linked) => {
  const page = () => app.get(path, anonymous);

  it('loads from this server only, and runs nothing inline [10.9d]', async () => {
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
    expect(scripts).toEqual(linked.filter((file) => file.endsWith('.js')).map(() => [true, '']));
    expect(text).not.toMatch(/<style|<[^>]+\s(style|on\w+)=|javascript:/i);
  });

  it('links only to this server, and each link leads to a file of its type', async () => {
    const { text } = await page();
    expect(text).not.toMatch(/https?:|["']\/\//);
    const named = Array.from(text.matchAll(/(?:href|src)="([^"]*)"/g), ([, name = '']) => name);
    for (const name of named.filter((each) => each.startsWith('#'))) expect(text).toContain(`id="${name.slice(1)}"`);
    const files = new Set(named.filter((name) => name !== 'data:,' && !name.startsWith('#')));
    expect([...files].sort()).toEqual(linked);
    for (const file of files) {
      const { status, headers } = await app.get(file, anonymous);
      expect([file, status, headers.get('content-type')]).toEqual([
        file,
        200,
        typeByEnding[file.split('.')[1] ?? 'html'],
      ]);
    }
  });

  it('sets the viewport width for phones', async () => {
    expect((await page()).text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
  });
});

describe('the page of error codes', () => {
  it('lists every code under its status with its escaped message [1.5b, 10.9b]', async () => {
    const { text } = await app.get('/docs/errors', anonymous);
    const sections = text.split('<h2 ').slice(1);
    const ofSections = sections.map((section) => Number(/^id="(\d+)">\1 /.exec(section)?.[1]));
    expect(ofSections).toEqual([...new Set(Object.values(statuses))].sort((one, other) => one - other));
    for (const [code, status] of Object.entries(statuses)) {
      expect(sections[ofSections.indexOf(status)]).toContain(`<tr id="${code}"><td><code>${code}</code></td><td>`);
    }
    expect(text).toContain('<code>Retry-After</code></h2>');
    expect(text).toContain('&quot;Authorization: Bearer &lt;key&gt;&quot;');
  });

  it('is not part of the docs page', async () => {
    expect((await app.get('/docs', anonymous)).text).not.toContain('SCHEMA_INVALID');
  });
});

describe('GET / [1.1e]', () => {
  it.each([
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'application/json;q=0.5, text/html',
    'text/*',
  ])('redirects to the docs page for Accept: %s', async (accept) => {
    const answer = await fetch(`${app.url}/`, { headers: { accept }, redirect: 'manual' });
    const { status, headers } = answer;
    expect([status, headers.get('location'), headers.get('vary'), await answer.text()]).toEqual([
      302,
      '/docs',
      'Accept',
      '',
    ]);
  });

  it.each(['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0', 'image/png', 'text/plain'])(
    'is 404 for Accept: %s',
    async (accept) => {
      const { status, headers, body } = await app.get('/', { ...anonymous, accept });
      expect([status, headers.get('vary')]).toEqual([404, 'Accept']);
      expect(body).toMatchObject({
        error: {
          code: 'NOT_FOUND',
          message:
            'This address has no resource; browsers are redirected to /docs. GET /openapi.json lists every route.',
        },
      });
    },
  );

  it('is 404 without Accept', async () => {
    expect(await app.raw('GET / HTTP/1.1\r\nHost: anima.test\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 404 /,
    );
  });
});

const files = ['/docs/swagger-ui.css', '/openapi.json'];
describe('a file of the docs page', () => {
  it.each(files)('is sent again only when it changed: %s [10.9a, 10.9c]', async (path) => {
    const first = await app.get(path, anonymous);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    expect(first.headers.get('x-content-type-options')).toBe('nosniff');
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text, headers } = await app.get(path, { 'if-none-match': known });
      expect([known, status, text, headers.get('etag')]).toEqual([known, 304, '', etag]);
    }
    const other = await app.get(path, { 'if-none-match': '"other"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
  });

  it('is 404 under any other name [10.9c]', async () => {
    for (const name of ['nothing.js', 'package.json', 'swagger-ui.css.map', 'constructor', '__proto__']) {
      expect([name, (await app.get(`/docs/${name}`, anonymous)).status]).toEqual([name, 404]);
    }
    expect((await app.get('/docs/..%2fdocs-page.ts', anonymous)).status).toBe(400);
  });

  it('is sent byte for byte, including the licences of the viewer [10.9c]', async () => {
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
    // The script has one external address of its own, which the page's settings remove.
    expect([...new Set(bundle.match(/https?:\/\/validator[^"'`\s]*/g))]).toEqual([
      'https://validator.swagger.io/validator',
    ]);
    expect(bundle).not.toMatch(/sendBeacon|importScripts|fonts\.googleapis|unpkg\.com|jsdelivr|scarf\.sh/);
  });
});

describe('the style sheet', () => {
  const width = 390;

  it('makes nothing wider than a phone', async () => {
    const { text } = await app.get('/docs/docs.css');
    const widths = Array.from(
      text.matchAll(/(?<!max-)(?:width|flex-basis|margin|padding): *([^;]*)/g),
      ([, value = '']) => value,
    );
    const pixels = widths.flatMap((value) => Array.from(value.matchAll(/(\d+)px/g), ([, number]) => Number(number)));
    expect(pixels.filter((each) => each > width)).toEqual([]);
    expect(text).not.toMatch(/white-space: *(nowrap|pre;)|\b\d+vw\b/);
  });

  it('has rules for a narrow screen, by which words break, tables stack and wide bodies scroll in their own box', async () => {
    const { text } = await app.get('/docs/docs.css');
    const [, narrow = ''] = /@media \(max-width: 640px\) \{\n(.*?)\n\}/s.exec(text) ?? [];
    expect(narrow).toMatch(/#api,\s+main \{\s+overflow-wrap: anywhere;/);
    expect(narrow).toMatch(/main tr,\s+main td \{\s+display: block;/);
    expect(narrow).toMatch(/#api table\.parameters td \{\s+display: block;/);
    expect(narrow).toMatch(/#api \.opblock-body,\s+#api \.model-container \{\s+overflow-x: auto;/);
  });
});

describe('the script of the docs page', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  type Options = Record<string, unknown> & { readonly spec: OpenApi };
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
  const document = (document: unknown = openApi(routes)) => ({ ok: true, json: () => document });

  it('shows the document of this server, calls no validator, and stores no key [10.9b]', async () => {
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
    // The viewer lists the tags in the order of the document.
    expect(options).not.toHaveProperty('tagsSorter');
  });

  const exampleOf = async (schema: object, media: object = {}, schemas: object = {}): Promise<unknown> => {
    const body = { content: { 'application/json': { schema, ...media } } };
    const spec = { openapi: '3.1.0', paths: { '/x': { post: { requestBody: body } } }, components: { schemas } };
    const { options } = await run('', document(spec));
    return options?.spec.paths['/x']?.post.requestBody.content['application/json'].example;
  };
  const text = { type: 'string' };

  it.each<[string, object, unknown]>([
    ['an object', { type: 'object', required: ['a'], properties: { a: text, b: text } }, { a: 'string' }],
    ['an object without required members', { type: 'object', properties: { a: text } }, {}],
    ['any value', { description: 'Any JSON value.' }, {}],
    [
      'nested values',
      {
        type: 'object',
        required: ['list', 'filled', 'inner', 'n', 'on', 'word', 'fixed', 'usual', 'none', 'shown'],
        properties: {
          list: { type: 'array', items: text },
          filled: { type: 'array', minItems: 1, items: text },
          inner: {
            type: 'object',
            required: ['x'],
            properties: { x: { type: ['integer', 'null'], minimum: 3 }, y: text },
          },
          n: { type: 'number' },
          on: { type: 'boolean' },
          word: { type: 'string', enum: ['one', 'two'] },
          fixed: { const: 7 },
          usual: { type: 'integer', default: 10 },
          none: { type: 'null' },
          shown: { type: 'string', examples: ['guard-17'] },
        },
      },
      {
        ...{ list: [], filled: ['string'], inner: { x: 3 }, n: 0, on: false, word: 'one', fixed: 7, usual: 10 },
        ...{ none: null, shown: 'guard-17' },
      },
    ],
    ['the first of several', { oneOf: [{ $ref: '#/components/schemas/Named' }, text] }, { a: 'string' }],
    ['the first of several that is not an object', { anyOf: [text, { type: 'null' }] }, 'string'],
    [
      'parts',
      { allOf: [{ $ref: '#/components/schemas/Named' }, { type: 'object', required: ['c'], properties: { c: text } }] },
      { a: 'string', c: 'string' },
    ],
    ['itself', { $ref: '#/components/schemas/Loop' }, { next: [{}] }],
  ])('prefills a request form with the required members of %s', async (_, schema, example) => {
    const schemas = {
      Named: { type: 'object', required: ['a'], properties: { a: text, b: text } },
      Loop: {
        type: 'object',
        required: ['next'],
        properties: { next: { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/Loop' } } },
      },
    };
    expect(await exampleOf(schema, {}, schemas)).toEqual(example);
  });

  it('keeps the examples of the document', async () => {
    expect(await exampleOf({ type: 'object' }, { example: { a: 1 } })).toEqual({ a: 1 });
    expect(await exampleOf({ type: 'object' }, { examples: { one: { value: { a: 1 } } } })).toBeUndefined();
  });

  it('makes an example for every JSON body without one', async () => {
    const { options } = await run('', document());
    expect(options?.spec.paths['/loose']?.post.requestBody.content['application/json'].example).toEqual({});
  });

  it.each([
    ['#loose', '#/Fake/loose'],
    ['#getDocs', '#/Server/getDocs'],
  ])('opens the route that %s names', async (hash, opened) => {
    const { replaceState } = await run(hash, document());
    expect(replaceState.mock.calls).toEqual([[null, '', opened]]);
  });

  it.each(['', '#errors', '#/Fake/loose', '#%'])('leaves the fragment %j unchanged', async (hash) => {
    const { replaceState, options } = await run(hash, document());
    expect([replaceState.mock.calls, options === undefined]).toEqual([[], false]);
  });

  it('shows a message when the document is missing', async () => {
    const { api, options } = await run('', { ok: false, status: 503 });
    expect(options).toBeUndefined();
    expect(api.textContent).toContain('503');
  });
});
