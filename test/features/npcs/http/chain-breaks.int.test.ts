import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { StreamWriters } from '../../../../src/kernel/streams/stream-writers.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import type { Scope } from '../../../../src/kernel/base/scopes.js';
import { chainBreakRoutes } from '../../../../src/features/npcs/http/chain-breaks.js';
import { typed } from '../../../cli/typed.js';
import { event, events } from '../../../support/events.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { appendNext } from '../../../support/append-next.js';
import { checksOf, seals } from '../../../support/seals.js';
import { noState } from '../../../support/streams.js';

const stream = npcStream('local', 'the guard');
const path = '/npcs/the%20guard/chain-breaks';
const keyOf = (...scopes: Scope[]) => testPrincipal({ keyId: scopes.join(), scopes });

let store: MemoryEventStore;
let app: TestApp;
beforeEach(async () => {
  store = new MemoryEventStore();
  const clock = new ManualClock();
  const writers = new StreamWriters(store, clock, { seals });
  const checks = checksOf(store);
  app = await startApp(chainBreakRoutes({ ports: { events: store, clock }, writers, checks }), {
    clock,
    keys: { good: testPrincipal(), audit: keyOf('audit'), acknowledge: keyOf('acknowledge') },
  });
  // Hashes that belong to no chain.
  await store.append(stream, 'no_stream', [event('one'), event('two', { meta: { prevHash: 'a'.repeat(64) } })]);
});
afterEach(() => app.stop());

const as = (key: string) => ({ authorization: `Bearer ${key}` });
const two = (acknowledged: boolean) => [
  { revision: 0, member: 'hash', stored: 'a'.repeat(64), computed: expect.stringMatching(/^\w{64}$/), acknowledged },
  { revision: 1, member: 'hash', stored: 'a'.repeat(64), computed: expect.stringMatching(/^\w{64}$/), acknowledged },
];

describe('the breaks of a chain', () => {
  it('are shown to a key with the scope audit, without changes [10.7a]', async () => {
    const { status, body, headers } = await app.get(path, as('audit'));
    expect([status, body]).toEqual([200, { npcId: 'the guard', events: 2, breaks: two(false) }]);
    expect(headers.get('anima-revision')).toBe('1');
    expect((await app.get(path, as('acknowledge'))).status).toBe(403);
    expect(await store.lastPosition()).toBe(2);
  });

  it('are recorded once by a key with the scope acknowledge, and shown as acknowledged from then on [10.7b]', async () => {
    expect((await app.post(path, undefined, as('audit'))).status).toBe(403);
    const first = await app.post(path, undefined, as('acknowledge'));
    expect([first.status, first.body]).toEqual([200, { npcId: 'the guard', events: 2, breaks: two(true) }]);
    expect(first.headers.get('anima-revision')).toBe('3');
    expect((await app.post(path, {}, as('acknowledge'))).body).toEqual({
      npcId: 'the guard',
      events: 4,
      breaks: two(true),
    });
    expect((await app.get(path, as('audit'))).body.breaks).toEqual(two(true));
    const { events: appended } = await store.read(stream, { direction: 'forwards', from: 2, limit: 10 });
    expect(appended.map(({ type, meta }) => [type, meta.actor])).toEqual([
      ['ChainBreakRecorded', 'acknowledge'],
      ['ChainBreakRecorded', 'acknowledge'],
    ]);
  });

  it('are searched from a given revision on, page by page [10.7c]', async () => {
    for (let part = 0; part < 2; part += 1) await appendNext(store, stream, events(`more-${String(part)}`, 300));
    const { body } = await app.get(`${path}?from=1`);
    expect(body.next).toBe(1 + Number(body.events));
    expect((await app.post(path, { from: body.next })).body.breaks[0].revision).toBe(body.next);
    expect((await app.get(`${path}?from=-1`)).status).toBe(400);
  });

  it('are 404 for an NPC without history [10.7d]', async () => {
    for (const { status, body } of [
      await app.get('/npcs/nobody/chain-breaks'),
      await app.post('/npcs/nobody/chain-breaks'),
    ]) {
      expect([status, body.error.code]).toEqual([404, 'NPC_NOT_FOUND']);
    }
  });
});

describe('anima chain', () => {
  const chain = (...words: string[]) =>
    typed(['chain', 'the guard', ...words], { env: { ANIMA_URL: app.url, ANIMA_API_KEY: 'good' } });

  it('fails while a break is not acknowledged, and acknowledges on request', async () => {
    const found = await chain();
    expect(found.code).toBe(1);
    expect(found.stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
      ['REVISION', 'MEMBER'],
      ['0', 'hash'],
      ['1', 'hash'],
      [''],
    ]);
    expect(found.stderr).toMatch(/^The hash chain is broken: 2 breaks in 2 events, 2 not acknowledged\. .*\n$/);
    const done = await chain('--acknowledge', '--reason', 'a disk fault');
    const kept = ' A break that was acknowledged before keeps its first reason.';
    expect([done.code, done.stderr]).toEqual([0, `2 breaks in 2 events, all acknowledged.${kept}\n`]);
    expect(await chain()).toMatchObject({ code: 0, stderr: '2 breaks in 4 events, all acknowledged.\n' });
  });

  it('acknowledges nothing without a reason', async () => {
    for (const words of [[], ['--reason', ' ']]) {
      expect(await chain('--acknowledge', ...words)).toEqual({
        code: 2,
        stdout: '',
        stderr: '--acknowledge needs --reason <text>: why the breaks are acknowledged.\n',
      });
    }
    expect((await chain()).stderr).toContain('2 not acknowledged');
  });

  it('reads all pages, and prints each as JSON', async () => {
    for (let part = 0; part < 2; part += 1) await appendNext(store, stream, events(`more-${String(part)}`, 300));
    const { code, stdout } = await chain('--json');
    expect(code).toBe(1);
    const pages = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { events: number; next?: number });
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.reduce((sum, page) => sum + page.events, 0)).toBe(602);
    expect(pages.at(-1)).not.toHaveProperty('next');
  });

  it('reports an intact chain', async () => {
    const clock = new ManualClock();
    const whole = new StreamWriters(store, clock);
    const writer = await whole.open(npcStream('local', 'whole'), noState);
    const context = { tenant: 'local', actor: 'k', commandId: 'c', correlationId: 'c', causationId: null };
    await writer.append([{ type: 'Noted', data: {} }], context, 0);
    const { code, stderr } = await typed(['chain', 'whole'], { env: { ANIMA_URL: app.url, ANIMA_API_KEY: 'good' } });
    expect([code, stderr]).toEqual([0, 'The hash chain is intact: 1 event, no breaks.\n']);
  });
});
