import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import type { RouteDefinition } from '../../../src/kernel/http/route.js';
import { requireSound } from '../../../src/kernel/http/route-rules.js';
import { startApp } from '../../support/http.js';
import { jsonStream, runRoute, streams } from './fake-routes.js';

const bytes = { accepts: 'image/png', maxBytes: 1 };
const picture = { 200: { description: 'a picture', contentType: 'image/png' } };
const definition = (over: Partial<RouteDefinition>): RouteDefinition => runRoute(() => ({}), over);

describe('a route definition', () => {
  it.each([
    {},
    { bytes },
    { bytes: { ...bytes, accepts: '*/*' } },
    { bytes: [bytes, { ...bytes, accepts: 'application/json' }] },
    { bytes, method: 'PUT' },
    { responses: picture, method: 'GET' },
    { responses: picture, scope: null },
    { responses: picture, bytes },
    { method: 'GET', responses: streams('finite') },
    { responses: jsonStream, restore: async () => ({}) },
    { scope: null, admits: async () => 'granted' },
  ] as const)('is accepted if it can work: %j', (over) => {
    expect(() => requireSound(definition(over))).not.toThrow();
  });

  it.each([
    [{ responses: streams('finite') }, 'only a GET'],
    [{ responses: streams('endless') }, 'only a GET'],
    [{ responses: picture }, 'cannot be stored for repeated requests'],
    [{ admits: async () => 'granted' }, 'both a grant and a key'],
    [{ bytes, method: 'GET' }, 'has no body'],
    [{ bytes, method: 'DELETE' }, 'has no body'],
    [{ bytes, body: Type.Object({}) }, 'both bytes and JSON'],
    [{ bytes, bodyLimit: 1 }, 'both bytes and JSON'],
    [{ bytes, writesTo: () => 's' }, 'no Idempotency-Key'],
    [{ bytes, keepAnswer: () => null }, 'no Idempotency-Key'],
    [{ bytes, restore: async () => ({}) }, 'no Idempotency-Key'],
    [{ bytes: { ...bytes, accepts: 'image/*' } }, 'not a media type'],
    [{ bytes: { ...bytes, accepts: 'Image/PNG' } }, 'not a media type'],
    [{ bytes: [bytes, { ...bytes, accepts: 'png' }] }, 'bytes of png, which is not a media type'],
    [{ bytes: { ...bytes, accepts: 'text/plain; charset=utf-8' } }, 'not a media type'],
  ] as const)('is refused if it cannot work: %j', (over, why) => {
    expect(() => requireSound(definition(over))).toThrow(why);
  });

  it('is checked when the routes are made', async () => {
    await expect(startApp([definition({ bytes, bodyLimit: 1 })])).rejects.toThrow('run accepts both bytes and JSON');
  });
});
