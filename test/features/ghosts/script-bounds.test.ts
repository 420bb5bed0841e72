import { describe, expect, it } from 'vitest';

import { replayReproduction, replayScript } from '../../../src/features/ghosts/replay-reproduction.js';
import { createSearches, reproduce, type ReproduceDeps, SCRIPT_BYTES } from '../../../src/features/ghosts/reproduce.js';
import type { Levels } from '../../../src/features/levels/levels.js';
import type { Finding } from '../../../src/features/ghosts/domain/findings.js';
import { generateLevel } from '../../../src/features/levels/domain/generate.js';
import { jsonBytes } from '../../../src/kernel/base/json.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';
import { recorded } from '../../support/histories.js';
import { ManualClock } from '../../support/manual-clock.js';
import { drawnLevel } from './domain/drawn-level.js';

const level = generateLevel('a place', 3);
/** The longest text that an engine may return, in the character that is largest in JSON. */
const long = '\u0001'.repeat(8_192);
const telling = JSON.stringify({ dialogue: 'Up.', action: { type: 'FLY' } });
const pace: ReproduceDeps['pace'] = (work) => Promise.resolve().then(work);
const clock = new ManualClock();

/** A session with these texts, and the findings of its last one. `enough`: texts that lead there. */
const sessionOf = async (texts: readonly string[], played = level, enough: readonly string[] = [telling]) => {
  const all = recorded(
    'steps',
    texts.map((text, index) => ({
      type: 'GhostStepped',
      data: {
        step: index + 1,
        turns: [{ npcId: 'ghost', events: [{ type: 'VerdictReached', version: 1, data: { generatedOutput: text } }] }],
      },
    })),
  );
  const limit = { signal: undefined, clock, untilMs: Infinity };
  const { findings } = await replayScript(
    pace,
    played,
    { script: enough.map((text) => ({ text })), briefedOn: null },
    limit,
  );
  const found = findings.find(({ fromStep }) => fromStep > 0);
  if (found === undefined) throw new Error('nothing was found');
  const finding: Finding = { ...found, fromStep: texts.length };
  const session = {
    ...{ name: 'over', sessionId: 'g0_0_aaaaaaaaaaaaaaaa', goal: 'find_bugs', seed: 3, steps: 1_000 },
    level: { levelId: 'a place', version: null, digest: 'the digest', generated: true },
  } as GhostAnswer;
  const deps: ReproduceDeps = {
    ...{ pace, clock, searches: createSearches() },
    levels: { levelOf: () => Promise.resolve(played) } as unknown as Levels,
    events: {
      read: (_, { from = 0, limit: most }) =>
        Promise.resolve({ events: all.slice(from, from + most), lastRevision: all.length - 1 }),
    },
  };
  return { deps, asked: { tenant: 'studio', session, finding } };
};

describe('the search for a reproduction', () => {
  it('examines no more bytes of texts than a replay accepts [9.10e, 9.10h]', async () => {
    const fitting = Math.floor(SCRIPT_BYTES / jsonBytes({ text: long }));
    const inTime = await sessionOf([...Array<string>(fitting - 1).fill(long), telling]);
    const { script, minimal } = await reproduce(inTime.deps, inTime.asked, undefined);
    expect([script, minimal]).toEqual([[{ text: telling }], true]);
    const late = await sessionOf([...Array<string>(fitting + 1).fill(long), telling]);
    await expect(reproduce(late.deps, late.asked, undefined)).rejects.toMatchObject({ code: 'FINDING_NOT_FOUND' });
  });

  it('takes at most 10 s, reports that a shorter script may exist, and continues with the next call [9.10d]', async () => {
    const move = (x: number): string =>
      JSON.stringify({ dialogue: '', action: { type: 'MOVE', payload: { x, y: 0 } } });
    const needed = [move(1), move(2)];
    const idle = Array<string>(6).fill('{"action":"IDLE"}');
    const { deps, asked } = await sessionOf([...idle, ...needed], drawnLevel(['@.#G']), needed);
    // After the first look, the time for searching is over.
    let looks = 0;
    const late = { monotonicMs: () => (looks++ === 0 ? 0 : 10_000) };
    const first = await reproduce({ ...deps, clock: late }, asked, undefined);
    expect(first.minimal).toBe(false);
    const second = await reproduce(deps, asked, undefined);
    expect([second.script.map(({ text }) => text), second.minimal]).toEqual([needed, true]);
  });

  it('gives up a replay that exceeds its time limit [9.10j]', async () => {
    const script = [{ text: telling }, { text: telling }];
    const late = { signal: undefined, clock: { monotonicMs: () => 2 }, untilMs: 1 };
    await expect(replayScript(pace, level, { script, briefedOn: null }, late)).rejects.toMatchObject({ code: 'BUSY' });
    const ref = { levelId: 'a place', version: null, digest: 'the digest', generated: true };
    const brought = { finding: { kind: 'soft_lock', subject: 'x' }, level: ref, map: null, seed: 3, script };
    const levels = { ownLevelOf: () => level } as unknown as Levels;
    const after = (ms: number) => {
      let looks = 0;
      const clockThen = { monotonicMs: () => (looks++ === 0 ? 0 : ms) };
      return replayReproduction({ levels, pace, clock: clockThen }, brought, undefined);
    };
    expect(await after(60_000)).toMatchObject({ reproduced: false, steps: 2 });
    await expect(after(60_001)).rejects.toMatchObject({ code: 'BUSY' });
  });

  it('returns the map of a registered level, so that any server can replay it [9.10a]', async () => {
    const { deps, asked } = await sessionOf([telling]);
    const map = { width: 3 };
    const levels = { ...deps.levels, mapOf: () => Promise.resolve(JSON.stringify(map)) } as unknown as Levels;
    const registered = { ...asked.session, level: { ...asked.session.level, version: 1, generated: false } };
    expect(await reproduce({ ...deps, levels }, { ...asked, session: registered }, undefined)).toMatchObject({
      ...{ map, level: registered.level, script: [{ text: telling }] },
    });
  });

  it('limits stored searches by the memory that they use', async () => {
    const wordy = JSON.stringify({ dialogue: 'Up '.repeat(8_192), action: { type: 'FLY' } });
    const { deps, asked } = await sessionOf([long, long, wordy]);
    await reproduce(deps, asked, undefined);
    expect(deps.searches.calculatedSize).toBeGreaterThan(wordy.length);
    const search = [...deps.searches.values()][0];
    if (search === undefined) throw new Error('no search is kept');
    for (let other = 0; other < 3; other += 1)
      deps.searches.set(String(other), { ...search, bytes: deps.searches.maxSize / 2 });
    expect(deps.searches.size).toBe(2);
  });
});
