import { readFile } from 'node:fs/promises';

import { beforeAll, describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { createGhostEngines } from '../../../src/features/ghosts/call-engines.js';
import {
  createSessionCache,
  type PlayDeps,
  type PlayedSession,
  playSlice,
} from '../../../src/features/ghosts/play-slice.js';
import { replayReproduction } from '../../../src/features/ghosts/replay-reproduction.js';
import { createPlayCache } from '../../../src/features/ghosts/remote-steps.js';
import { closeAndReport } from '../../../src/features/ghosts/report.js';
import { createSearches, reproduce, SCRIPT_BYTES, SCRIPT_TEXTS } from '../../../src/features/ghosts/reproduce.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import type { Finding } from '../../../src/features/ghosts/domain/findings.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import type { Json } from '../../../src/kernel/base/json.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';
import { fakeCortex } from '../../support/fake-cortex.js';
import { walkOn } from '../../support/ghost-model.js';
import { ManualClock } from '../../support/manual-clock.js';
import { aRuleset } from '../../support/rules.js';

const never = new AbortController().signal;
/** The ghost’s mind stays where it can go somewhere new: only the surroundings of an engine’s ghost show that. */
const rule = { ruleAction: 'FORBID MOVE', ruleCondition: [['context.surroundings.ways.entered', 'false']] as const };
const level = { ...generateLevel('a place', 3), ruleset: aRuleset([rule]) };
const session: PlayedSession = {
  ...{ tenant: 'studio', sessionId: 'g0_0_aaaaaaaaaaaaaaaa', goal: 'complete_level', seed: 3, steps: 20 },
  ...{ engine: 'fake', level: { levelId: 'a place', version: null, digest: 'the digest', generated: true } },
};
const over = { ...session, name: 'over' } as unknown as GhostAnswer;

describe('reproductions of a session that an engine played', () => {
  const store = new MemoryEventStore();
  const clock = new ManualClock();
  const { engine } = fakeCortex(({ prompt }) => Promise.resolve(walkOn(prompt)));
  const levels = { levelOf: () => Promise.resolve(level), ownLevelOf: () => level } as unknown as Levels;
  const deps: PlayDeps = {
    ...{
      levels,
      clock,
      events: store,
      kept: createSessionCache(),
      writers: new StreamWriters(store, clock, { shared: true }),
    },
    pace: (work) => Promise.resolve().then(work),
    callEngine: createGhostEngines({ engines: { find: () => engine }, clock, texts: 1 }).ask,
  };
  const reproduced = (finding: Finding | undefined) =>
    reproduce({ ...deps, searches: createSearches() }, { tenant: 'studio', session: over, finding }, never);
  let strict: Finding;

  beforeAll(async () => {
    await playSlice(deps, session, never);
    const { findings } = await closeAndReport({ ...deps, plays: createPlayCache() }, session);
    strict = findings.find(({ kind }) => kind === 'mind_refused_world_allows') as Finding;
  });

  it('are played with the prompts that the engine got [9.10c]', async () => {
    const found = await reproduced(strict);
    expect(found).toMatchObject({ engine: true, goal: 'complete_level', steps: 1, minimal: true });
    expect(await replayReproduction(deps, found, never)).toMatchObject({ reproduced: true, steps: 1 });
    const { engine: _engine, ...asOfPolicy } = found;
    expect(await replayReproduction(deps, asOfPolicy, never)).toMatchObject({ reproduced: false });
  });

  it('are refused with a map whose texts two readers would interpret differently [9.10i]', async () => {
    const map = JSON.parse(await readFile('levels/cellar.tmj', 'utf8')) as { properties?: object[] };
    const twice = '{"rulesetRules":[{"ruleAction":"forbid MOVE","ruleAction":"forbid SAY"}]}';
    const brought = {
      ...{ finding: strict, level: session.level, seed: 3, script: [] },
      map: { ...map, properties: [{ name: 'rules', type: 'string', value: twice }] } as unknown as Json,
    };
    await expect(replayReproduction(deps, brought, never)).rejects.toMatchObject({
      code: 'REPRO_INVALID',
      details: { problems: [{ problem: expect.stringContaining('two members named') as string }] },
    });
  });

  it('do not exist for a finding that does not recur, and report whether it recurred too late [9.10e]', async () => {
    const other = { ...strict, subject: 'something else' };
    await expect(reproduced(other)).rejects.toMatchObject({
      message: expect.stringMatching(/not lead to the finding/) as string,
    });
    expect([SCRIPT_TEXTS, SCRIPT_BYTES]).toEqual([20_000, 12 * 1024 * 1024]);
    const late = { ...other, fromStep: SCRIPT_TEXTS + 1 };
    await expect(reproduced(late)).rejects.toMatchObject({
      message: expect.stringMatching(/after the first/) as string,
    });
  });

  it('do not exist for unknown findings, for absences and for the duration of steps [9.10e]', async () => {
    const none = { code: 'FINDING_NOT_FOUND' };
    await expect(reproduced(undefined)).rejects.toMatchObject(none);
    await expect(reproduced({ ...strict, kind: 'rule_never_fired' })).rejects.toMatchObject({
      ...{ ...none, message: expect.stringMatching(/did not happen/) as string },
    });
    await expect(reproduced({ ...strict, kind: 'slow_step' })).rejects.toMatchObject({
      ...{ ...none, message: expect.stringMatching(/depends on the machine/) as string },
    });
  });
});
