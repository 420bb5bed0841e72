import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { createOpenAiEngine } from '../../../src/adapters/cortex/openai.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { createGhostEngines, PERMIT_WAIT_MS } from '../../../src/features/ghosts/call-engines.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import type { CortexEngine } from '../../../src/ports/cortex.js';
import { fakeCortex } from '../../support/fake-cortex.js';
import { ManualClock } from '../../support/manual-clock.js';
import { startOpenAiServer } from '../../support/openai-server.js';
import { seededRandom } from '../../support/seeded-random.js';
import { settle } from '../../support/settle.js';

const never = new AbortController().signal;
const asked = { prompt: 'x', constraints: {} };
const asker = { tenant: 'studio', sessionId: 'one', engine: 'fake', step: 3 };
const other = { ...asker, sessionId: 'other' };

const ghostsOf = (engine: CortexEngine | null, clock = new ManualClock()) =>
  createGhostEngines({ engines: { find: () => engine }, clock, texts: 4 });

/** An engine that answers on command. */
const slow = (runtime: string) => {
  const waiting: (() => void)[] = [];
  const { engine } = fakeCortex(() => new Promise((resolve) => waiting.push(() => resolve('Yes.'))));
  return { engine: { ...engine, runtime }, waiting };
};

describe('the engine calls of ghosts', () => {
  it.each([
    ['http', 4],
    ['llama.cpp', 1],
  ])('ask an engine that runs by %s for %i texts at a time [9.8v]', async (runtime, most) => {
    const { engine, waiting } = slow(runtime);
    const { ask } = ghostsOf(engine);
    const all = Array.from({ length: 6 }, () => ask(asker, asked, never));
    for (let answered = 0; answered < all.length; answered += 1) {
      await settle(4);
      expect(waiting).toHaveLength(Math.min(most, all.length - answered));
      waiting.shift()?.();
    }
    expect(await Promise.all(all)).toEqual(all.map(() => 'Yes.'));
  });

  it('wait for it, at most 32 at a time and 8 of one tenant [9.8v]', async () => {
    const { engine } = slow('llama.cpp');
    const { ask } = ghostsOf(engine);
    const askAs = (tenant: string): void => {
      ask({ ...asker, tenant }, asked, new AbortController().signal).catch((error: unknown) => refused.push(error));
    };
    const refused: unknown[] = [];
    askAs('first');
    for (let callers = 0; callers < 9; callers += 1) askAs('one');
    await settle(4);
    expect(refused).toEqual([expect.objectContaining({ code: 'BUSY' })]);
    for (const tenant of ['two', 'three', 'four']) for (let callers = 0; callers < 8; callers += 1) askAs(tenant);
    await settle(4);
    expect(refused).toHaveLength(1);
    askAs('five');
    await settle(4);
    expect(refused).toHaveLength(2);
  });
});

describe('the reason why a session waits', () => {
  it('is the engine’s own reason, or that the engine does not exist [9.2d]', () => {
    const fake = fakeCortex(() => Promise.resolve('Yes.'));
    const ghosts = ghostsOf(fake.engine);
    expect(ghosts.whyWaiting(asker)).toBeNull();
    fake.set('It is down.');
    expect(ghosts.whyWaiting(asker)).toBe('It is down.');
    expect(ghostsOf(null).whyWaiting(asker)).toMatch(/does not have .*"fake"/);
  });

  it('is the failure of its own prompts while the engine is up, until it gets a text [9.2d]', async () => {
    let broken = true;
    const refused = new Rejection('CORTEX_UNAVAILABLE', { details: { reason: 'Too long.' }, retryAfter: 1 });
    const { engine } = fakeCortex(() => (broken ? Promise.reject(refused) : Promise.resolve('Yes.')));
    const ghosts = ghostsOf(engine);
    await expect(ghosts.ask(asker, asked, never)).rejects.toBe(refused);
    expect([asker, other, { ...asker, tenant: 'other' }].map(ghosts.whyWaiting)).toEqual(['Too long.', null, null]);
    // Another process has continued meanwhile.
    expect(ghosts.whyWaiting({ ...asker, step: 4 })).toBeNull();
    broken = false;
    await ghosts.ask(asker, asked, never);
    expect(ghosts.whyWaiting(asker)).toBeNull();
  });

  it('is also that an engine which is up gives no text, which is asked for again', async () => {
    const details = { cortexId: 'fake', reason: 'It has no words.' };
    const { engine } = fakeCortex(() => Promise.reject(new Rejection('CORTEX_NO_ANSWER', { details })));
    const ghosts = ghostsOf(engine);
    const waits = { code: 'CORTEX_UNAVAILABLE', details, retryAfter: 1 };
    await expect(ghosts.ask(asker, asked, never)).rejects.toMatchObject(waits);
    expect(ghosts.whyWaiting(asker)).toBe('It has no words.');
  });

  it('names a model server that is up but refuses prompts', async () => {
    await using models = await startOpenAiServer();
    const refusal = '{"error":{"message":"context length exceeded"}}';
    models.behave({ kind: 'raw', status: 400, contentType: 'application/json', body: refusal });
    const log = pino({ level: 'silent' });
    const random = seededRandom('ghosts');
    const server = { url: models.url, model: 'm', key: null };
    const ghosts = ghostsOf(createOpenAiEngine(server, { clock: systemClock, log, random }));
    await expect(ghosts.ask(asker, asked, never)).rejects.toMatchObject({ code: 'CORTEX_UNAVAILABLE' });
    expect(ghosts.whyWaiting(asker)).toMatch(/HTTP 400/);
  });

  it('is kept while the same prompt is retried', async () => {
    const answers: ((error: Error) => void)[] = [];
    const { engine } = fakeCortex(() => new Promise((_, reject) => answers.push(reject)));
    const ghosts = ghostsOf(engine);
    const first = expect(ghosts.ask(asker, asked, never)).rejects.toThrow();
    await settle(4);
    expect(ghosts.whyWaiting(asker)).toBeNull();
    answers[0]?.(new Rejection('CORTEX_UNAVAILABLE', { details: { reason: 'Too long.' } }));
    await first;
    const stopping = new AbortController();
    const again = expect(ghosts.ask(asker, asked, stopping.signal)).rejects.toThrow();
    await settle(4);
    expect(ghosts.whyWaiting(asker)).toBe('Too long.');
    stopping.abort(new Error('stopped'));
    answers[1]?.(new Error('stopped'));
    await again;
    expect(ghosts.whyWaiting(asker)).toBeNull();
  });

  it('is that other ghosts are served first, before and after the wait times out [9.2d]', async () => {
    const clock = new ManualClock();
    const { engine, waiting } = slow('llama.cpp');
    const ghosts = ghostsOf(engine, clock);
    void ghosts.ask(other, asked, never);
    const late = expect(ghosts.ask(asker, asked, never)).rejects.toMatchObject({ code: 'BUSY' });
    await settle(4);
    expect([other, asker].map(ghosts.whyWaiting)).toEqual([null, expect.stringMatching(/other ghost sessions/)]);
    await clock.advance(PERMIT_WAIT_MS);
    await late;
    expect(ghosts.whyWaiting(asker)).toMatch(/other ghost sessions/);
    waiting[0]?.();
    await settle(4);
    const said = ghosts.ask(asker, asked, never);
    await settle(4);
    waiting[1]?.();
    expect(await said).toBe('Yes.');
    expect(ghosts.whyWaiting(asker)).toBeNull();
  });
});
