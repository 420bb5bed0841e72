import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { servedRoutes } from '../../scripts/served-routes.js';
import { EXCHANGES } from '../exchanges/play.js';
import { documentOf, operationsOf, type PlacedOperation, undocumentedHeaders } from '../support/openapi.js';

const document = documentOf(servedRoutes());
const operations = operationsOf(document);

/** The operation that a request is for, by its first line. */
const operationOf = (method: string, target: string): PlacedOperation | undefined => {
  const path = target.split('?', 1)[0] ?? '';
  const fits = (one: PlacedOperation): boolean => {
    const segments = one.path.split('/');
    const given = path.split('/');
    return (
      one.method === (method === 'HEAD' ? 'GET' : method) &&
      segments.length === given.length &&
      segments.every((segment, at) => (segment.startsWith('{') ? given[at] !== '' : segment === given[at]))
    );
  };
  const found = operations.filter(fits);
  return found.find(({ path: exact }) => !exact.includes('{')) ?? found[0];
};

type Exchange = {
  readonly method: string;
  readonly target: string;
  readonly hasBody: boolean;
  readonly status: string;
  readonly headers: readonly string[];
  readonly code: string | undefined;
};

/** Each request that is followed by its answer, with nothing in between. */
const exchangesIn = (text: string): readonly Exchange[] =>
  Array.from(
    text.matchAll(/^> ([A-Z]+) (\/\S*) HTTP\/1\.1\\r\\n\n((?:>.*\n)*)< HTTP\/1\.1 (\d+) .*\n((?:<.*\n)*)/gm),
    ([, method = '', target = '', request = '', status = '', answer = '']) => ({
      ...{ method, target, status },
      hasBody: /^> (Content-Length: [1-9]|Transfer-Encoding)/im.test(request),
      headers: Array.from(answer.matchAll(/^< ([\w-]+): .*\\r\\n$/gm), ([, name = '']) => name),
      code: status < '400' ? undefined : /"error": ?\{\s*(?:<:\s*)?"code": ?"([A-Z_]+)"/.exec(answer)?.[1],
    }),
  );

const exchanges = readdirSync(EXCHANGES)
  .filter((name) => name.endsWith('.http'))
  .flatMap((name) => exchangesIn(readFileSync(join(EXCHANGES, name), 'utf8')))
  .flatMap((exchange) => {
    const operation = operationOf(exchange.method, exchange.target);
    return operation === undefined ? [] : [{ ...exchange, operation }];
  });

const codesOf = ({ responses }: PlacedOperation, status: string): readonly string[] =>
  responses[status]?.description?.match(/(?<=`)[A-Z][A-Z_]+(?=`)/g) ?? [];

describe('the recorded exchanges', () => {
  /** Refusals of every route, of a server without its dependencies, and of requests that no client of the document sends. */
  const isGeneral = ({ status, code, method, hasBody }: Exchange): boolean =>
    status === '500' || status === '503' || code === 'REQUEST_UNREADABLE' || (method === 'GET' && hasBody);

  it('show only codes that the document lists for the route [10.9a]', () => {
    const refused = exchanges.filter(({ code }) => code !== undefined);
    expect(refused.length).toBeGreaterThan(60);
    const unlisted = refused
      .filter((exchange) => !isGeneral(exchange))
      .filter(({ operation, status, code = '' }) => !codesOf(operation, status).includes(code))
      .map(({ operation, code }) => `${operation.operationId} ${code ?? ''}`);
    expect([...new Set(unlisted)].sort()).toEqual([]);
  });

  it('show only headers that the document lists for the response [10.9a]', () => {
    expect(exchanges.length).toBeGreaterThan(150);
    // A deprecated route says so in its refusals, too, and those are described for all routes together.
    const deprecation = ['Deprecation', 'Link'];
    const unlisted = exchanges
      .filter((exchange) => !isGeneral(exchange))
      .flatMap(({ operation, status, headers }) =>
        undocumentedHeaders(
          document,
          operation,
          status,
          headers.filter((name) => operation.deprecated !== true || !deprecation.includes(name)),
        ).map((name) => `${operation.operationId} ${status} ${name}`),
      );
    expect([...new Set(unlisted)].sort()).toEqual([]);
  });
});

const named = (operationId: string): PlacedOperation => {
  const found = operations.find((operation) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`no operation is called ${operationId}`);
  return found;
};

describe('the codes of an operation', () => {
  it('include ID_INVALID wherever a client chooses an id, also in the body', () => {
    for (const id of [
      'registerNpc',
      'registerRules',
      'replayNpcs',
      'runGhost',
      'runGhostSuite',
      'verifyVerdict',
      'getNpc',
    ])
      expect(codesOf(named(id), '400'), id).toContain('ID_INVALID');
    expect(codesOf(named('listNpcs'), '400')).not.toContain('ID_INVALID');
  });

  it('include HEADER_INVALID where an Idempotency-Key is refused or a header has a number', () => {
    for (const id of ['importCard', 'registerNpc', 'getNpc', 'search'])
      expect(codesOf(named(id), '400'), id).toContain('HEADER_INVALID');
  });

  it('include the refusals of a body that the route does not need, except for GET', () => {
    const withoutBody = operations.filter(({ method, requestBody }) => method !== 'GET' && requestBody === undefined);
    expect(withoutBody.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(['verifySoul', 'makeCheckpoint', 'archiveNpc', 'deleteRules']),
    );
    for (const operation of withoutBody) {
      expect(codesOf(operation, '400'), operation.operationId).toContain('MALFORMED_JSON');
      expect(codesOf(operation, '413'), operation.operationId).toContain('BODY_TOO_LARGE');
      expect(codesOf(operation, '415'), operation.operationId).toContain('UNSUPPORTED_MEDIA_TYPE');
    }
  });
});

describe('the headers of an operation', () => {
  const headersOf = (operationId: string, status: string): readonly string[] =>
    Object.keys(named(operationId).responses[status]?.headers ?? {});
  const reads = (operationId: string): readonly string[] =>
    named(operationId)
      .parameters.filter((parameter) => parameter.in === 'header')
      .map(({ name }) => name);

  it('include Link for every list with pages', () => {
    const paged = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'cursor'));
    expect(paged.length).toBeGreaterThan(8);
    for (const { operationId } of paged) expect(headersOf(operationId, '200'), operationId).toContain('Link');
  });

  it('include Location, Anima-Revision and ETag where they are sent', () => {
    for (const id of ['runGhost', 'replayNpcs', 'replayNpc']) expect(headersOf(id, '202'), id).toContain('Location');
    for (const id of ['getNpc', 'listTurns', 'history', 'processStep', 'registerNpc', 'exportHistory', 'bundleHistory'])
      expect(headersOf(id, '200'), id).toContain('Anima-Revision');
    for (const id of ['getOpenApi', 'exportCard', 'getFromArchive', 'getDocsFile'])
      for (const status of ['200', '304']) expect(headersOf(id, status), id).toContain('ETag');
  });

  it('include the request headers that a route reads', () => {
    for (const id of [
      'getNpc',
      'listTurns',
      'getTurn',
      'why',
      'history',
      'state',
      'search',
      'recallMemories',
      'exportCard',
    ])
      expect(reads(id), id).toContain('Anima-Min-Revision');
    expect(reads('listNpcs')).not.toContain('Anima-Min-Revision');
    expect(reads('getOpenApi')).toEqual(['If-None-Match']);
    expect(reads('registerNpc')).toEqual(['Idempotency-Key']);
  });

  it('all have a description', () => {
    for (const header of Object.values(document.components.headers)) expect(header).toHaveProperty('description');
  });
});
