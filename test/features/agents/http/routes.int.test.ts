import { EventEmitter } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { createLiveTexts, type LiveTexts } from '../../../../src/features/agents/live-texts.js';
import { createEngines } from '../../../../src/features/engines/engines.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';
import { agentRoutes } from '../../../../src/features/agents/http/routes.js';
import type { CortexEngine } from '../../../../src/ports/cortex.js';
import type { Subscription } from '../../../../src/ports/event-store.js';
import { NumberEmbedder } from '../../../support/recall-scene.js';
import { fakeCortex } from '../../../support/fake-cortex.js';
import { gate } from '../../../support/gate.js';
import { startApp, type TestApp, testPrincipal } from '../../../support/http.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { CONVERSATION, openMinds, TENANT } from '../../../support/minds.js';
import { runRoute } from '../../../kernel/http/fake-routes.js';

const WAIT_MS = 12_000;
const PATH = '/v1/agents/mira/process';

/** A store that counts the followers of its streams. */
class FollowedStore extends MemoryEventStore {
  following = 0;

  override async *subscribe(options: Subscription): ReturnType<MemoryEventStore['subscribe']> {
    this.following += 1;
    try {
      yield* super.subscribe(options);
    } finally {
      this.following -= 1;
    }
  }
}

let app: TestApp;
let routes: ReturnType<typeof agentRoutes>;
let minds: Awaited<ReturnType<typeof openMinds>>;
let store: FollowedStore;
afterEach(async () => {
  await app.stop();
  await minds[Symbol.asyncDispose]();
});

const start = async (
  { engine }: { readonly engine: CortexEngine },
  {
    waitMs = WAIT_MS,
    deadlineMs = 900_000,
    liveTexts: given,
  }: { waitMs?: number; deadlineMs?: number; liveTexts?: LiveTexts | null } = {},
): Promise<void> => {
  store = new FollowedStore();
  const clock = new ManualClock();
  const liveTexts = given === undefined ? createLiveTexts(clock) : given;
  const recall = () => Promise.resolve({ memories: [], embedder: 'words@1', pending: 0, byWords: null, revision: -1 });
  minds = await openMinds(store, clock, { agent: { recall, engineOf: () => engine, liveTexts } });
  const { writers, repository, index: turnIndex, runtime: processes } = minds.deps;
  routes = agentRoutes({
    ...{ writers, repository, turnIndex, runtime: processes },
    engines: createEngines([engine], engine, () => null),
    liveTexts,
    turnDeadlineMs: deadlineMs,
    agentWaitMs: waitMs,
    conversation: CONVERSATION,
    ports: { events: store, clock, embedder: new NumberEmbedder() },
  });
  const list = runRoute(({ wrote }) => ({ body: { wrote } }), { method: 'GET', path: '/list', operationId: 'list' });
  app = await startApp([...routes, list], { clock, keys: { good: testPrincipal({ tenant: TENANT }) } });
};

type Phase = readonly [name: string, data: Record<string, unknown>];

/** The phases of an input as they arrive; `rest` reads to the end. */
const streamed = async (input: string, context: object = {}, headers: Readonly<Record<string, string>> = {}) => {
  const abort = new AbortController();
  const response = await fetch(`${app.url}${PATH}`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer good',
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ input, context }),
    signal: abort.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let comments = 0;
  const next = async (): Promise<Phase | null> => {
    for (;;) {
      const [whole, event, data] = /^event: ([\w.]+)\ndata: (.*)\n\n/.exec(text) ?? [];
      if (event !== undefined && data !== undefined) {
        text = text.slice(whole?.length);
        return [event, JSON.parse(data) as Record<string, unknown>];
      }
      const { done, value } = await reader.read();
      if (done) {
        expect(text).toBe('');
        return null;
      }
      text = (text + value).replace(/^(:\n\n)+/, (some) => {
        comments += some.length / ':\n\n'.length;
        return '';
      });
    }
  };
  const rest = async (): Promise<readonly Phase[]> => {
    const phases: Phase[] = [];
    for (let phase = await next(); phase !== null; phase = await next()) phases.push(phase);
    return phases;
  };
  return { next, rest, comments: () => comments, leave: () => abort.abort() };
};
const names = (phases: readonly Phase[]): readonly string[] => phases.map(([name]) => name);
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
};
const say = (input: string, context: object = {}) => app.post(PATH, { input, context } as never);
const wrote = async (): Promise<unknown> => (await app.get('/list')).body;

describe('an agent’s answer', () => {
  it('reports the revision and the position of its turn, so that lists wait for it', async () => {
    await start(fakeCortex(() => Promise.resolve('Well met.')));
    const { status, headers } = await say('Hello.');
    expect([status, headers.get('anima-revision')]).toEqual([200, '3']);
    expect(await wrote()).toEqual({ wrote: 4 });
  });

  it('reports them for a refused action as well, which was also recorded [7.1j]', async () => {
    await start(fakeCortex(() => Promise.resolve('{"action": "MOVE"}')));
    const refused = await say('Wake up!', { npcState: { status: 'asleep' } });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'RULE_REFUSED']);
    expect(refused.body.error.requestId).toBe(refused.headers.get('x-request-id'));
    const { lastRevision } = await store.read((await minds.events())[0]?.stream ?? '', {
      direction: 'backwards',
      limit: 1,
    });
    expect(refused.headers.get('anima-revision')).toBe(String(lastRevision));
    expect(await wrote()).toEqual({ wrote: lastRevision + 1 });
  });

  it('repeats a refusal under its key, including the revision [1.7o]', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve('{"action": "MOVE"}'));
    await start({ engine });
    const body = { input: 'Wake up!', context: { npcState: { status: 'asleep' } } };
    const first = await app.post(PATH, body, { 'idempotency-key': 'once' });
    const again = await app.post(PATH, body, { 'idempotency-key': 'once' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([422, 'true']);
    expect(again.headers.get('anima-revision')).toBe(first.headers.get('anima-revision'));
    expect(asked).toHaveLength(1);
  });
});

describe('the phases of an agent’s turn', () => {
  it('arrive in order while the turn runs [7.1c, 7.1k]', async () => {
    const { opened, open } = gate();
    await start(
      fakeCortex(async () => {
        await opened;
        return 'Well met.';
      }),
    );
    const stream = await streamed('Hello.');
    const [first, data] = (await stream.next()) ?? [];
    expect([first, Object.keys(data ?? {})]).toEqual(['opened', ['turnId', 'stream']]);
    const { turnId } = data as { turnId: string };
    expect(await stream.next()).toEqual(['recalled', { turnId, memories: [] }]);
    expect(await stream.next()).toEqual(['thinking', { turnId }]);
    open();
    const answer = { dialogue: 'Well met.', action: { type: 'SPEAK' }, stateChanges: {}, memoriesRecalled: [] };
    expect(await stream.next()).toEqual(['dialogue', { turnId, index: 0, text: 'Well met.' }]);
    expect(await stream.rest()).toMatchObject([['verdict', { ...answer, turnId, revision: 3 }]]);
    expect(await wrote()).toEqual({ wrote: 4 });
  });

  it('contain the dialogue by sentence once the verdict is recorded, and say so at the beginning [7.4a, 7.4b]', async () => {
    const { engine, asked } = fakeCortex(() => Promise.resolve('Well met. What do you want?'));
    await start({ engine });
    const phases = await (await streamed('Hello.')).rest();
    expect(names(phases)).toEqual(['opened', 'recalled', 'thinking', 'dialogue', 'dialogue', 'verdict']);
    expect(phases[0]?.[1]).toMatchObject({ stream: 'verified' });
    expect(phases.slice(3, 5).map(([, { index, text }]) => [index, text])).toEqual([
      [0, 'Well met. '],
      [1, 'What do you want?'],
    ]);
    expect(asked[0]?.onText).toBeUndefined();
  });

  describe('with X-Anima-Stream: provisional', () => {
    const provisional = { 'x-anima-stream': 'provisional' };
    const written = (dialogue: string): string => `{"dialogue": ${JSON.stringify(dialogue)}`;
    /** An engine that writes a beginning, waits, and answers. */
    const writing = (beginnings: readonly string[], answer: string) => {
      const { opened, open } = gate();
      const { engine } = fakeCortex(async ({ onText }) => {
        for (const text of beginnings) {
          await app.clock.advance(50);
          onText?.(text);
        }
        await opened;
        return answer;
      });
      return { engine, open };
    };

    it('contain the sentences while the engine writes, and the rest with the verdict [7.4c]', async () => {
      const { engine, open } = writing([written('Well met. Wh')], `${written('Well met. What now?')}}`);
      await start({ engine });
      const stream = await streamed('Hello.', {}, provisional);
      expect((await stream.next())?.[1]).toMatchObject({ stream: 'provisional' });
      for (const name of ['recalled', 'thinking']) expect((await stream.next())?.[0]).toBe(name);
      expect(await stream.next()).toMatchObject(['dialogue', { index: 0, text: 'Well met. ' }]);
      open();
      expect(await stream.rest()).toMatchObject([
        ['dialogue', { index: 1, text: 'What now?' }],
        ['verdict', { dialogue: 'Well met. What now?' }],
      ]);
    });

    it('take back what the rules refuse, and what the engine begins anew [7.4d]', async () => {
      const { engine, open } = writing(
        [written('I go. Fare'), written('I stay. Or'), written('I stay. Or not. ')],
        '{"dialogue": "I stay. Or not.", "action": "MOVE"}',
      );
      await start({ engine });
      const stream = await streamed('Wake up!', { npcState: { status: 'asleep' } }, provisional);
      const early: Phase[] = [];
      while (early.length < 6) early.push((await stream.next()) as Phase);
      expect(early.slice(3)).toMatchObject([
        ['dialogue', { index: 0, text: 'I go. ' }],
        ['dialogue.retract', { dialogue: '' }],
        ['dialogue', { index: 0, text: 'I stay. ' }],
      ]);
      open();
      expect(await stream.rest()).toMatchObject([
        ['dialogue.retract', { dialogue: 'Mmmh…' }],
        ['error', { error: { code: 'RULE_REFUSED' } }],
      ]);
    });

    it('are verified where other processes may play the turn [7.4e]', async () => {
      const { engine, open } = writing([written('Well met. Wh')], 'Well met.');
      await start({ engine }, { liveTexts: null });
      open();
      const phases = await (await streamed('Hello.', {}, provisional)).rest();
      expect(phases[0]?.[1]).toMatchObject({ stream: 'verified' });
      expect(names(phases)).toEqual(['opened', 'recalled', 'thinking', 'dialogue', 'verdict']);
    });

    it('are refused with another value, and end to listen when the client has left [7.4b]', async () => {
      const liveTexts = createLiveTexts(new ManualClock());
      const { engine, open } = writing([], 'Well met.');
      await start({ engine }, { liveTexts });
      const wrong = await app.post(
        PATH,
        { input: 'Hello?' },
        { accept: 'text/event-stream', 'x-anima-stream': 'fast' },
      );
      expect([wrong.status, wrong.body.error.details.header]).toEqual([400, 'X-Anima-Stream']);
      const stream = await streamed('Hello.', {}, provisional);
      await stream.next();
      const mind = npcStream(TENANT, 'mira');
      expect(liveTexts.writerFor(mind, 'any')).toBeDefined();
      stream.leave();
      await until(() => liveTexts.writerFor(mind, 'any') === undefined);
      open();
    });
  });

  it('are not sent without being asked for, and X-Anima-Stream is then ignored with a warning [7.4g]', async () => {
    await start(fakeCortex(() => Promise.resolve('Well met.')));
    const warned = async (mode: string) =>
      (await app.post(PATH, { input: 'Hello.' }, { 'x-anima-stream': mode })).headers.get('anima-warning');
    expect(await warned('provisional')).toBe('header-ignored; name="X-Anima-Stream"');
    expect(await warned('verified')).toBeNull();
  });

  it('are separated by a comment every 15 seconds [7.1l]', async () => {
    await start(
      fakeCortex(() => new Promise<never>(() => undefined)),
      { waitMs: 60_000 },
    );
    const stream = await streamed('Hello.');
    for (let phases = 0; phases < 3; phases += 1) await stream.next();
    expect(stream.comments()).toBe(0);
    const ended = stream.rest();
    for (let comments = 1; comments <= 3; comments += 1) {
      await app.clock.advance(15_000);
      await until(() => stream.comments() === comments);
    }
    await app.clock.advance(15_000);
    await ended;
  });

  it('end with a refusal as an event [7.1k]', async () => {
    await start(fakeCortex(() => Promise.resolve('{"action": "MOVE"}')));
    const phases = await (await streamed('Wake up!', { npcState: { status: 'asleep' } })).rest();
    expect(names(phases)).toEqual(['opened', 'recalled', 'thinking', 'error']);
    expect(phases.at(-1)?.[1]).toMatchObject({
      error: { code: 'RULE_REFUSED', details: { drRuleId: 'incapacitated' }, requestId: expect.any(String) as string },
    });
    expect(await wrote()).not.toEqual({ wrote: 0 });
  });

  it('end with the 503 as an event when the time is up; the same input gets the outcome [7.1k, 7.1n, 7.1s]', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      await opened;
      return 'At last.';
    });
    await start({ engine });
    const stream = await streamed('Are you there?');
    for (let phases = 0; phases < 3; phases += 1) await stream.next();
    await app.clock.advance(WAIT_MS);
    expect(await stream.rest()).toMatchObject([['error', { error: { code: 'CORTEX_UNAVAILABLE' } }]]);
    open();
    await until(async () => (await minds.types()).includes('MemoryStored'));
    expect(store.following).toBe(0);
    const again = await (await streamed('Are you there?')).rest();
    expect(again.at(-1)).toMatchObject(['verdict', { dialogue: 'At last.' }]);
    expect(asked).toHaveLength(1);
  });

  it('end with the 503 immediately when the engine is known to be down', async () => {
    const fake = fakeCortex(() => Promise.reject(new Rejection('CORTEX_UNAVAILABLE')));
    await start(fake);
    const stream = await streamed('Hello?');
    fake.set('It is down.');
    for (let phases = 0; phases < 3; phases += 1) await stream.next();
    await app.clock.advance(250);
    expect(await stream.rest()).toMatchObject([
      ['error', { error: { code: 'CORTEX_UNAVAILABLE', details: { reason: 'It is down.' } } }],
    ]);
  });

  it('end with the 422 as an event when the engine gives no text [6.7b]', async () => {
    const details = { cortexId: 'fake', reason: 'It has no words.' };
    await start(fakeCortex(() => Promise.reject(new Rejection('CORTEX_NO_ANSWER', { details }))));
    const stream = await streamed('Hello?');
    expect((await stream.rest()).at(-1)).toMatchObject(['error', { error: { code: 'CORTEX_NO_ANSWER', details } }]);
  });

  it('reach a second client that joins, from the first phase on', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      await opened;
      return 'To both of you.';
    });
    await start({ engine });
    const first = await streamed('Well?');
    for (let phases = 0; phases < 3; phases += 1) await first.next();
    const second = await streamed('Well?');
    const past = [await second.next(), await second.next(), await second.next()];
    expect(names(past as Phase[])).toEqual(['opened', 'recalled', 'thinking']);
    open();
    const verdicts = [...(await first.rest()), ...(await second.rest())];
    expect(names(verdicts)).toEqual(['dialogue', 'verdict', 'dialogue', 'verdict']);
    expect(verdicts.slice(2)).toEqual(verdicts.slice(0, 2));
    expect(asked).toHaveLength(1);
  });

  it('end with the 503 as an event when the turn expires', async () => {
    await start(
      fakeCortex(() => new Promise<never>(() => undefined)),
      { waitMs: 60_000, deadlineMs: 20_000 },
    );
    const stream = await streamed('Anybody?');
    for (let phases = 0; phases < 3; phases += 1) await stream.next();
    await app.clock.advance(20_000);
    expect(await stream.rest()).toMatchObject([['error', { error: { code: 'CORTEX_UNAVAILABLE' } }]]);
    expect(await minds.types()).toEqual(['TurnOpened', 'MemoriesRecalled', 'TurnExpired']);
  });

  it('stop when their client leaves; the turn continues, and the same input gets its outcome [7.1s]', async () => {
    const { opened, open } = gate();
    const { engine, asked } = fakeCortex(async () => {
      await opened;
      return 'You left.';
    });
    await start({ engine });
    const stream = await streamed('Wait for me.');
    await stream.next();
    expect(store.following).toBe(1);
    stream.leave();
    await until(() => store.following === 0);
    open();
    await until(async () => (await minds.types()).includes('MemoryStored'));
    expect((await say('Wait for me.')).body).toMatchObject({ dialogue: 'You left.' });
    expect(asked).toHaveLength(1);
  });

  it.each([true, false])(
    'are kept for a client that left before the first was sent (closed before: %s)',
    async (closed) => {
      const { engine, asked } = fakeCortex(() => Promise.resolve('You left early.'));
      await start({ engine });
      const res = Object.assign(new EventEmitter(), { closed, socket: {} });
      const call = {
        params: { agentId: 'mira' },
        body: { input: 'Wait for me.' },
        principal: testPrincipal({ tenant: TENANT }),
      };
      const left = {
        ...call,
        commandId: 'c1',
        requestId: 'r1',
        keyed: false,
        resumed: false,
        wantsStream: true,
        header: () => undefined,
        koa: { req: { socket: {} }, res },
      };
      await routes[0]?.handler(left as never);
      res.emit('close');
      await until(async () => (await minds.types()).includes('MemoryStored'));
      expect((await say('Wait for me.')).body).toMatchObject({ dialogue: 'You left early.' });
      expect(asked).toHaveLength(1);
    },
  );

  it('are not sent for a request with an Idempotency-Key, or for one refused before a turn is opened [7.1m]', async () => {
    await start(fakeCortex(() => Promise.resolve('Hm?')));
    const accept = { accept: 'text/event-stream' };
    const keyed = await app.post(PATH, { input: 'Hello?' }, { ...accept, 'idempotency-key': 'one' });
    expect([keyed.status, keyed.body.error.code]).toEqual([400, 'HEADER_INVALID']);
    const large = await app.post(PATH, { input: 'x'.repeat(600_000) }, accept);
    expect([large.status, large.body.error.code]).toEqual([413, 'EVENTS_TOO_LARGE']);
    expect(await minds.types()).toEqual([]);
  });
});
