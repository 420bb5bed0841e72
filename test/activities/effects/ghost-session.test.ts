import { describe, expect, it } from 'vitest';

import { ghostSessionEffects } from '../../../activities/effects/ghost-session.js';
import { createSessionCache } from '../../../src/features/ghosts/play-slice.js';
import { createPlayCache } from '../../../src/features/ghosts/remote-steps.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { ghostStream } from '../../../src/kernel/base/stream-names.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { ManualClock } from '../../support/manual-clock.js';
import { MemoryEventStore } from '../../support/memory/event-store.js';

const sessionId = 'g0_0_aaaaaaaaaaaaaaaa';
const setting = {
  ...{ goal: 'find_bugs', seed: 3, steps: 10 },
  level: { levelId: 'a place', version: null, digest: 'the digest', generated: true },
};

/** The result of an effect of a session whose level is read like this. */
const resultOf = (name: string, levelOf: () => Promise<null>) => {
  const events = new MemoryEventStore();
  const clock = new ManualClock();
  const effects = ghostSessionEffects({
    writers: new StreamWriters(events, clock),
    levels: { levelOf } as unknown as Levels,
    ghostPlays: createPlayCache(),
    ghostSessions: createSessionCache(),
    ports: { events, clock },
    ghostPace: () => (work) => Promise.resolve().then(work),
    ghostEngines: { ask: () => Promise.reject(new Error('the policy of a goal asks no engine')) },
  });
  const ref = { process: 'ghostSession', stream: ghostStream('studio', sessionId), id: sessionId };
  return effects.effect(ref, { id: name, name, args: setting }, new AbortController().signal);
};

describe('an effect of a ghost session', () => {
  it.each(['begin', 'play'])('ends the session if it cannot continue: %s [9.8f]', async (name) => {
    expect(await resultOf(name, () => Promise.resolve(null))).toEqual({
      ...{ type: 'broken', reason: 'The level of this session no longer exists.' },
    });
    expect(await resultOf(name, () => Promise.reject(new Error('a defect')))).toMatchObject({
      ...{ type: 'broken', reason: expect.stringContaining('because of a defect') as string },
    });
  });

  it('is retried after a passing failure, and a report after every failure', async () => {
    const passing = new Rejection('STORE_UNAVAILABLE', { retryAfter: 1 });
    await expect(resultOf('play', () => Promise.reject(passing))).rejects.toBe(passing);
    await expect(resultOf('report', () => Promise.reject(new Error('a defect')))).rejects.toThrow('a defect');
  });
});
