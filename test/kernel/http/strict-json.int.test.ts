import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startApp, type TestApp } from '../../support/http.js';
import { echoRoute, looseRoute, nested } from './fake-routes.js';

const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

describe('a body', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp([echoRoute, looseRoute]);
  });
  afterAll(() => app.stop());

  const loose = (body: string | Buffer) => app.request('POST', '/loose', { body });

  it.each([
    ['is cut off', '{"a":'],
    ['has a comment', '{/* */}'],
    ['has a trailing comma', '{"a":1,}'],
    ['is two values', '{}{}'],
    ['is white space', ' '],
    ['is NaN', '{"a":NaN}'],
    ['begins with two byte order marks', bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], '{}')],
    ['names a member twice', '{"a":1,"a":2}'],
    ['names a member twice, once with escapes', '{"data":[{"x":1,"\\u0078":2}]}'],
    ['holds an integer that no double holds', '{"data":{"id":76561198140718655}}'],
    ['holds one that comes back in other digits', '{"data":{"id":76561198140718656}}'],
    ['holds a negative one', '{"data":{"id":-9007199254740993}}'],
    ['holds a byte that is not UTF-8', bytes('{"data":{"x":"', [0xff], '"}}')],
    ['holds an overlong encoding', bytes('{"data":{"x":"', [0xc0, 0xaf], '"}}')],
    ['holds an encoded surrogate', bytes('{"data":{"x":"', [0xed, 0xa0, 0x80], '"}}')],
    ['is UTF-16', Buffer.from('{}', 'utf16le')],
    ['names __proto__', '{"__proto__":{"a":1}}'],
    ['names __proto__ far down', '{"data":{"list":[{"__proto__":1}]}}'],
    ['names __proto__ with escapes', '{"\\u005f_proto__":{"a":1}}'],
    ['names __proto__ with escapes in capitals', '{"\\u005F\\u005Fproto\\u005F_":1}'],
    ['holds half a surrogate pair', '{"data":{"x":"\\ud800"}}'],
    ['holds half a surrogate pair in a name', '{"data":{"\\udc00":1}}'],
    ['holds a number beyond all numbers', '{"data":{"x":1e999}}'],
    ['holds a long number beyond all numbers', `{"data":{"x":-${'9'.repeat(400)}}}`],
    ['is nested deeper than 32', JSON.stringify({ data: { x: nested(31) } })],
    ['is nested a hundred thousand deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('that %s is 400 [1.2c]', async (_what, body) => {
    const reply = await loose(body);
    expect([reply.status, reply.body.error.code]).toEqual([400, 'MALFORMED_JSON']);
    expect(typeof reply.body.error.details.reason).toBe('string');
  });

  it('may be nested 32 deep [1.2c]', async () => {
    expect((await loose(JSON.stringify({ data: { x: nested(30) } }))).status).toBe(200);
  });

  it('may contain __proto__ in a text, and complete surrogate pairs', async () => {
    const { status, body } = await loose('{"data":{"x":"__proto__ \\ud83d\\ude00"}}');
    expect([status, body.body.data.x]).toEqual([200, '__proto__ 😀']);
  });

  it('keeps constructor and prototype as data [1.2e]', async () => {
    const sent = { data: { constructor: { prototype: 1 }, prototype: 2, toString: 'x', hasOwnProperty: null } };
    expect((await app.post('/loose', sent)).body.body).toEqual(sent);
    expect(Object.hasOwn(Object.prototype, 'prototype')).toBe(false);
  });

  it.each([
    ['{"a":1,\n "a":2}', 'An object has two members named "a".'],
    [
      '{"id":76561198140718655}',
      'The integer 76561198140718655 is too large to be stored exactly. Send it as a string.',
    ],
    ['{"a": 1\n "b": 2}', 'The JSON is invalid at line 2, column 2.'],
    ["{'a': 1}", 'The JSON is invalid at line 1, column 2.'],
    ['{"a": tru}', 'The JSON is invalid at line 1, column 7.'],
    ['{"a": "b', 'The JSON ends too early.'],
  ])('%s is refused with the problem and its location [1.2d]', async (body, reason) => {
    expect((await loose(body)).body.error.details).toEqual({ reason });
  });

  it('may begin with a byte order mark, and contain large integers that a double holds [1.2f]', async () => {
    const { status, body } = await loose(
      bytes([0xef, 0xbb, 0xbf], '{"data":{"x":[10000000000000000,9007199254740992,35748936546471750]}}'),
    );
    expect([status, body.body.data.x]).toEqual([200, [1e16, 2 ** 53, 35_748_936_546_471_750]]);
    const digits = '{"data":{"x":[1.0000000000000000001,12345678901234567890e2,"76561198140718655"]}}';
    expect((await loose(digits)).status).toBe(200);
  });

  it('is refused with the certain problem beside a possible one', async () => {
    const cut = '"generatedOutput":"cut \\ud83d"';
    for (const [rest, reason] of [
      [
        '"id":76561198140718655',
        'The integer 76561198140718655 is too large to be stored exactly. Send it as a string.',
      ],
      ['"a":1,"a":2', 'An object has two members named "a".'],
      ['"a":1,', 'The JSON is invalid at line 1, column 47.'],
    ] as const)
      expect((await loose(`{"data":{${cut},${rest}}}`)).body.error.details).toEqual({ reason });
  });

  it('is refused without a location if finding it would take long [1.2d]', async () => {
    const long = `{"data":{"list":[${'1,'.repeat(40_000)}]}}`;
    expect((await loose(long)).body.error.details).toEqual({ reason: 'The JSON cannot be parsed.' });
    const most = `{"a":1${' '.repeat(65_536 - '{"a":1x}'.length)}x}`;
    expect(await loose(most)).toMatchObject({
      body: { error: { details: { reason: 'The JSON is invalid at line 1, column 65535.' } } },
    });
    expect((await loose(` ${most}`)).body.error.details).toEqual({ reason: 'The JSON cannot be parsed.' });
    const twice = `{"a":${'1'.padEnd(80_000)},"a":2}`;
    expect((await loose(twice)).body.error.details).toEqual({ reason: 'An object has two members of the same name.' });
  });

  it('may contain half a surrogate pair where a model was cut off [1.2g]', async () => {
    const sent = '{"data":{"generatedOutput":"It burned \\ud83d","list":[{"generatedOutput":"\\udc00"}]}}';
    const { status, body } = await loose(sent);
    expect([status, body.body.data]).toEqual([
      200,
      { generatedOutput: 'It burned \ufffd', list: [{ generatedOutput: '\ufffd' }] },
    ]);
  });

  it('may be empty or {} when no member is required [1.2i]', async () => {
    const empty = await app.request('POST', '/loose');
    expect([empty.status, empty.body]).toEqual([200, { body: {} }]);
    const typed = await app.request('POST', '/loose', {
      headers: { 'content-type': 'text/plain', 'content-length': '0' },
    });
    expect(typed.status).toBe(200);
    expect((await app.post('/loose', {})).body).toEqual({ body: {} });
    const chunked = await app.raw(
      'POST /loose HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n',
    );
    expect(chunked).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('may not be empty when a member is required', async () => {
    const { status, body } = await app.request('POST', '/npcs/mira/echo');
    expect([status, body.error.code]).toEqual([400, 'SCHEMA_INVALID']);
    expect(body.error.details.issues).toEqual([{ in: 'body', pointer: '/text', message: 'is missing' }]);
  });

  it('may contain unknown members [1.2j]', async () => {
    expect((await app.post('/loose', { a: 1, apiKey: 'x', extra: { deep: true } })).status).toBe(200);
  });

  it('is refused with a misspelt member and the name it may mean [1.2l]', async () => {
    const said = (reply: { readonly headers: Headers }) => reply.headers.get('anima-warning');
    const taken = await app.post('/npcs/mira/echo', { text: 'a', Note: 'b' });
    expect([taken.status, said(taken)]).toEqual([200, 'member-unknown; meant="/note"']);
    const refused = await app.post('/npcs/mira/echo', { texts: 'a' });
    expect([refused.status, said(refused)]).toEqual([400, 'member-unknown; meant="/text"']);
    expect(said(await app.post('/npcs/mira/echo', { text: 'a', other: 'b' }))).toBeNull();
    const several = await app.post('/npcs/mira/echo', { texts: 'a', list: [{ Name: 'b' }] });
    expect(said(several)).toBe('member-unknown; meant="/text", member-unknown; meant="/list/-/name"');
  });

  it('is not coerced to fit its schema', async () => {
    expect((await app.post('/loose', { a: '1' })).body.error.code).toBe('SCHEMA_INVALID');
  });

  it('treats null in an optional named member as absent, but not inside free-form JSON [1.2n]', async () => {
    const sent = {
      text: 'a',
      note: null,
      child: { name: null, other: null },
      list: [{ name: null, n: null }],
      free: { name: null, list: [null] },
    };
    const { status, body } = await app.post('/npcs/mira/echo', sent);
    expect(status).toBe(200);
    expect(body.body).toEqual({ text: 'a', child: { other: null }, list: [{}], free: { name: null, list: [null] } });
    expect((await app.post('/npcs/mira/echo', { text: 'a', free: null, child: null, list: null })).body.body).toEqual({
      text: 'a',
    });
  });

  it('does not accept null in a required member [1.2n]', async () => {
    expect((await app.post('/npcs/mira/echo', { text: null })).status).toBe(400);
  });

  it('is read also when the client waits for 100 Continue', async () => {
    const reply = await app.raw(
      'POST /loose HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nContent-Length: 7\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n{"a":5}',
    );
    expect(reply).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(reply).toContain('{"body":{"a":5}}');
  });
});
