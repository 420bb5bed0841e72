import { describe, expect, it, vi } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import type { ReplayTask } from '../../../src/features/replays/count-mind.js';
import type { EventDraft } from '../../../src/kernel/base/event-draft.js';
import { jsonBytes } from '../../../src/kernel/base/json.js';
import { initialMind } from '../../../src/features/npcs/domain/state.js';
import { CURRENT_LOGIC, logicOf } from '../../../src/features/turns/domain/decision/logic.js';
import { checkOfMind } from '../../../src/features/turns/domain/decision/bridge-checked.js';
import { gatherFindings } from '../../../src/features/replays/gather-findings.js';
import { createHand, ThreadEnded } from '../../../src/features/replays/replay-part.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { replaySlice, type ReplayHands } from '../../../src/features/replays/replay-slice.js';
import { addFindings, noFindings, type ReplayFindings } from '../../../src/features/replays/domain/findings.js';
import type { ReplayCursor } from '../../../src/features/replays/domain/events.js';
import type { DirectiveRuleSet } from '../../../src/features/rules/domain/ruleset.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { recorded } from '../../support/histories.js';
import { playedMind } from '../../support/played-minds.js';
import { aRuleset, aStrictRuleset } from '../../support/rules.js';

const never = new AbortController().signal;
const house = aRuleset([
  { ruleName: 'rings', ruleObsPattern: 'ring', ruleAction: 'FORBID GIVE', ruleReason: 'Rings are tin.' },
  { ruleCondition: [['hp', '<25']], ruleAction: 'rest soon', rulePriority: 5, rulePromptSuffix: 'You are tired.' },
]);
const strict: DirectiveRuleSet = {
  ...aRuleset([
    { ruleName: 'low', ruleAction: 'FORBID INTERACT', ruleReason: 'Not now.' },
    { ruleName: 'high', ruleAction: 'FORBID INTERACT', ruleReason: 'Never.', rulePriority: 9 },
    { ruleName: 'idle', ruleAction: 'FORBID NAP', ruleCondition: [['asleep', 'true']] },
  ]),
  rulesetId: 'strict',
};
const task: ReplayTask = { replayId: 'r0_0_aaaaaaaaaaaaaaaa', tenant: 'studio', upTo: Number.MAX_SAFE_INTEGER };

/** A store with the histories of these minds. */
const storeWith = async (minds: Readonly<Record<string, number>>): Promise<MemoryEventStore> => {
  const store = new MemoryEventStore();
  for (const [npcId, turns] of Object.entries(minds)) {
    const events = playedMind(npcId, turns, house);
    await store.append(npcStream('studio', npcId), 'no_stream', events);
  }
  return store;
};

/** The dependencies of one process without earlier slices. Every look at its clock is a millisecond later. */
const processOf = (events: Pick<EventStore, 'read'>, hands = 1): ReplayHands => {
  let nowMs = 0;
  const clock = { monotonicMs: () => (nowMs += 1) };
  const make = Array.from({ length: hands }, () =>
    createHand({ events, clock, rulesOf: (_, ref) => Promise.resolve(ref.version === 1 ? house : null) }),
  );
  return { begin: (slice) => make.map((hand) => hand(slice)) };
};

/** Pages of this many events, so that a slice ends in the middle of a mind, and of a turn. */
const inPagesOf = (store: EventStore, most: number): Pick<EventStore, 'read'> => ({
  read: (stream, range) => store.read(stream, { ...range, limit: Math.min(most, range.limit) }),
});

type Run = { readonly slices: number; readonly found: ReplayFindings; readonly events: number };

/** Runs all slices. @param sliceMs a slice runs at least one part, however short @param anew whether each slice runs in its own process */
const runAll = async (
  events: Pick<EventStore, 'read'>,
  npcIds: readonly string[],
  asked: Partial<ReplayTask> = {},
  { sliceMs = 0, anew = false, hands = 1 }: { sliceMs?: number; anew?: boolean; hands?: number } = {},
): Promise<Run> => {
  let cursor: ReplayCursor = { after: null, begun: [] };
  let found = noFindings;
  let read = 0;
  let made = processOf(events, hands);
  for (let slices = 1; slices < 10_000; slices += 1) {
    if (anew) made = processOf(events, hands);
    async function* mindsAfter(after: string | null): AsyncGenerator<string, undefined, undefined> {
      for (const npcId of npcIds) if (after === null || npcId > after) yield await Promise.resolve(npcId);
    }
    let nowMs = 0;
    const deps = { hands: made, clock: { monotonicMs: () => (nowMs += 1) }, sliceMs, mindsAfter };
    const done = await replaySlice(deps, { cursor, found }, { ...task, ...asked }, never);
    // As a store returns it.
    cursor = JSON.parse(JSON.stringify(done.cursor)) as ReplayCursor;
    found = addFindings(found, JSON.parse(JSON.stringify(done.found)) as ReplayFindings);
    read += done.events;
    if (done.over) return { slices, found, events: read };
  }
  throw new Error('it does not end');
};

describe('slices of a replay', () => {
  const minds = { ada: 3, bo: 0, cy: 9 };
  const npcIds = ['ada', 'cy', 'nobody'];

  it('confirm every recorded decision', async () => {
    const { found, events } = await runAll(await storeWith({ ada: 3, cy: 9 }), npcIds);
    expect(found).toMatchObject({ decisions: 48, turns: { equal: 12, different: 0 }, differences: {}, samples: [] });
    expect(found.rules.every(({ was, fired }) => was === fired)).toBe(true);
    expect(events).toBe(playedMind('ada', minds.ada, house).length + playedMind('cy', minds.cy, house).length);
  });

  it.each([1, 2, 3, 5, 7, 16])(
    'find the same wherever they are cut, also in separate processes (pages of %i events)',
    async (page) => {
      const store = await storeWith({ ada: 3, cy: 9 });
      const outputs = [{ turnId: 't2', generatedOutput: 'No.' }];
      for (const asked of [{ outputs }, { trial: strict }, { trial: strict, instead: 'test' }] as const) {
        const whole = await runAll(store, npcIds, asked);
        for (const anew of [false, true]) {
          const cut = await runAll(inPagesOf(store, page), npcIds, asked, { anew });
          expect(cut.slices).toBeGreaterThan(whole.slices);
          expect(cut.found).toEqual(whole.found);
          expect(cut.events).toBe(whole.events);
        }
        const byMany = await runAll(inPagesOf(store, page), npcIds, asked, { hands: 3 });
        expect(byMany.found.samples).toEqual(whole.found.samples);
        expect({ ...byMany.found, rules: [] }).toEqual({ ...whole.found, rules: [] });
      }
    },
  );

  it('try other rules, and report the effect of each [10.3l, 10.3n]', async () => {
    const { found } = await runAll(await storeWith({ cy: 4 }), ['cy'], { trial: strict });
    expect(found.turns).toEqual({ equal: 0, different: 4 });
    expect(found.differences.newlyRefused).toBe(4);
    expect(found.differences).not.toHaveProperty('otherTrace');
    const uses = new Map(found.rules.map((count) => [count.drRuleId + (count.rulesetId ?? ''), count]));
    expect(uses.get('r2')).toMatchObject({ was: 0, fired: 4, decided: 4, shadowed: 0 });
    expect(uses.get('r1')).toMatchObject({ was: 0, fired: 4, decided: 0, shadowed: 4 });
    expect(uses.get('r1')?.samples.shadowed?.[0]).toMatchObject({ npcId: 'cy', turnId: 't0' });
    expect(uses.has('r3')).toBe(false);
    const many = (await runAll(await storeWith({ cy: 9 }), ['cy'], { trial: strict })).found.rules;
    const longest = many.flatMap(({ samples }) => Object.values(samples).map((places) => places.length));
    expect([many.find(({ drRuleId }) => drRuleId === 'r2')?.decided, Math.max(...longest)]).toEqual([9, 5]);
    expect(found.samples.find(({ kind }) => kind === 'newlyRefused')).toMatchObject({
      ...{ npcId: 'cy', turnId: 't0', was: { valid: true } },
      would: { valid: false, code: 'RULE_REFUSED', dialogue: 'Never.' },
    });
  });

  it('count decisions that differ from the record whatever the rules are [10.3m, 10.3t]', async () => {
    const store = new MemoryEventStore();
    const changed = playedMind('cy', 30, house).map((event) => {
      const { verdict } = event.data as { readonly verdict?: object };
      return verdict === undefined
        ? event
        : { ...event, data: { ...event.data, verdict: { ...verdict, dialogue: '' } } };
    }) as ReturnType<typeof playedMind>;
    const traced = playedMind('dan', 1, house).map((event) =>
      'grounds' in event.data
        ? { ...event, data: { ...event.data, grounds: { rules: [], seen: [], checks: [] } } }
        : event,
    ) as ReturnType<typeof playedMind>;
    await store.append(npcStream('studio', 'cy'), 'no_stream', changed);
    await store.append(npcStream('studio', 'dan'), 'no_stream', traced);
    const same = { ...house, version: 2 };
    const { found } = await runAll(store, ['cy', 'dan'], { trial: same });
    expect(found).toMatchObject({ turns: { equal: 31, different: 0 }, differences: {}, samples: [] });
    expect(found.byLogic?.decisions).toBe(30);
    expect(found.byLogic?.samples).toHaveLength(20);
    expect(found.byLogic?.samples[0]).toMatchObject({
      ...{ npcId: 'cy', turnId: 't0', kind: 'otherAction', was: { dialogue: '' } },
      would: { dialogue: expect.stringMatching(/./) as string },
    });
    for (const anew of [false, true]) {
      const cut = await runAll(inPagesOf(store, 7), ['cy', 'dan'], { trial: same }, { anew });
      expect(cut.found).toEqual(found);
    }
    const both = await runAll(store, ['cy'], { trial: strict });
    expect(both.found).toMatchObject({ differences: { newlyRefused: 30 }, byLogic: { decisions: 30 } });
    expect(both.found.samples.find(({ kind }) => kind === 'newlyRefused')?.was).not.toMatchObject({ dialogue: '' });
    expect((await runAll(store, ['cy'])).found).not.toHaveProperty('byLogic');
  });

  it('recognise the rules on trial among those of the time, and decide once by them [10.3s]', async () => {
    const store = await storeWith({ cy: 4 });
    const reachVerdict = vi.spyOn(logicOf(CURRENT_LOGIC), 'reachVerdict');
    const verdicts = async (trial: DirectiveRuleSet) => {
      reachVerdict.mockClear();
      expect((await runAll(store, ['cy'], { trial })).found.differences).toEqual({});
      return reachVerdict.mock.calls.length;
    };
    expect(await verdicts(structuredClone(house))).toBe(4);
    expect(await verdicts({ ...house, version: 2 })).toBe(8);
    reachVerdict.mockRestore();
  });

  it('tell rules of one version apart by their digest [10.3c]', async () => {
    const lenient: DirectiveRuleSet = { ...aRuleset([{ ruleAction: 'be kind' }]), version: 0 };
    const still: DirectiveRuleSet = { ...aRuleset([{ ruleAction: 'FORBID *', ruleReason: 'Be still.' }]), version: 0 };
    const sets = new Map([
      ['one', lenient],
      ['other', still],
    ]);
    const having = (events: ReturnType<typeof playedMind>, digest: string) =>
      events.map((event) => {
        const { ruleset } = event.data as { readonly ruleset?: object };
        return ruleset === undefined ? event : { ...event, data: { ...event.data, ruleset: { ...ruleset, digest } } };
      }) as ReturnType<typeof playedMind>;
    const store = new MemoryEventStore();
    await store.append(npcStream('studio', 'ada'), 'no_stream', having(playedMind('ada', 2, lenient), 'one'));
    await store.append(npcStream('studio', 'bo'), 'no_stream', having(playedMind('bo', 2, still), 'other'));
    const asked: (string | undefined)[] = [];
    const begin = createHand({
      ...{ events: store, clock: { monotonicMs: () => 0 } },
      rulesOf: (_, { digest }) => {
        asked.push(digest);
        return Promise.resolve(sets.get(digest ?? '') ?? null);
      },
    });
    const hand = begin({ task, known: noFindings, ms: 1 });
    await hand.part({ npcId: 'ada', next: 0 }, never);
    await hand.part({ npcId: 'bo', next: 0 }, never);
    expect(await hand.findings()).toMatchObject({ turns: { equal: 4, different: 0 }, skipped: { rules: 0 } });
    expect(asked).toEqual(['one', 'other']);
  });

  it('count the decisions in which a condition could not be decided [10.3n]', async () => {
    const strictly = aStrictRuleset([
      { drRuleId: 'poor', ruleCondition: [['observation', '<5']], ruleAction: 'FORBID NAP' },
    ]);
    const { found } = await runAll(await storeWith({ cy: 2 }), ['cy'], { trial: { ...strictly, rulesetId: 'new' } });
    const poor = found.rules.find(({ drRuleId }) => drRuleId === 'poor');
    expect(poor).toMatchObject({ fired: 2, errors: 2 });
    expect(found.rules.filter(({ errors }) => errors !== undefined)).toHaveLength(1);
  });

  it('count a rule that would replace an action as the one that decides [5.6i, 10.3n]', async () => {
    const flee = { ruleAction: 'REQUIRE FLEE', ruleOnBreak: 'replace', ruleRefusal: 'Help!' } as const;
    const scared = aStrictRuleset([{ drRuleId: 'alarm', ruleCondition: [['action.type', '!=FLEE']], ...flee }]);
    const { found } = await runAll(await storeWith({ cy: 3 }), ['cy'], { trial: { ...scared, rulesetId: 'new' } });
    expect(found.differences.otherAction).toBe(3);
    expect(found.rules.find(({ drRuleId }) => drRuleId === 'alarm')).toMatchObject({ decided: 3 });
  });

  it('cover only the requested decisions, and none after its acceptance [10.3a, 10.3b]', async () => {
    const store = await storeWith({ cy: 9 });
    const history = playedMind('cy', 9, house);
    const turnsOf = async (asked: Partial<ReplayTask>): Promise<number> =>
      (await runAll(store, ['cy'], asked)).found.turns.equal;
    const opening = (turnId: string) => history.find(({ data }) => data['turnId'] === turnId);
    const [first, fifth] = [opening('t0'), opening('t5')];
    expect(await turnsOf({ turnId: 't3' })).toBe(1);
    expect(await turnsOf({ fromRevision: fifth?.revision ?? 0 })).toBe(4);
    expect(await turnsOf({ toRevision: (fifth?.revision ?? 0) - 1 })).toBe(5);
    expect(await turnsOf({ since: fifth?.meta.at ?? '' })).toBe(4);
    expect(await turnsOf({ until: first?.meta.at ?? '' })).toBe(1);
    expect(await turnsOf({ upTo: fifth?.position ?? 0 })).toBe(6);
    expect(await turnsOf({ trial: house, instead: 'other' })).toBe(0);
  });

  it('count a bridge check as a turn [10.3k]', async () => {
    const store = await storeWith({ cy: 2 });
    const stream = npcStream('studio', 'cy');
    const { lastRevision: revision } = await store.read(stream, { direction: 'backwards', limit: 1 });
    const question = {
      action: 'WAVE',
      context: {},
      chosen: { ruleset: null, used: null },
      patternsHeld: [],
    };
    const checked = checkOfMind({ ...initialMind, revision }, question) as readonly EventDraft[];
    await store.append(stream, revision, recorded(stream, checked, revision + 1));
    const { found } = await runAll(store, ['cy']);
    expect(found).toMatchObject({ decisions: 9, turns: { equal: 3, different: 0 }, skipped: { logic: 0, turn: 0 } });
  });

  it('truncate samples to 2,048 bytes [10.3m]', () => {
    const gathered = gatherFindings(noFindings);
    const outcome = (dialogue: string) => ({ verdict: { valid: true, dialogue }, grounds: {} }) as never;
    const of = { type: 'VerdictReached', revision: 3, turnId: 't1', difference: 'otherAction', ruleset: null } as const;
    const texts = ['x'.repeat(5_000), '夢'.repeat(2_000)] as const;
    gathered.decision('cy', { ...of, was: outcome(texts[0]), would: outcome(texts[1]) }, { trial: false, rules: null });
    const [sample] = gathered.findings().samples;
    for (const shown of [sample?.was, sample?.would]) {
      const bytes = jsonBytes(shown ?? null);
      expect([bytes > 400, bytes <= 2_048]).toEqual([true, true]);
    }
  });

  it('report the decisions that they could not replay [10.3p]', async () => {
    const store = await storeWith({ cy: 2 });
    const lost = createHand({
      ...{ events: store, clock: { monotonicMs: () => 0 } },
      rulesOf: () => Promise.resolve(null),
    });
    const hand = lost({ task, known: noFindings, ms: 1 });
    await hand.part({ npcId: 'cy', next: 0 }, never);
    expect(await hand.findings()).toMatchObject({ decisions: 0, skipped: { logic: 0, rules: 2, turn: 0 } });
  });

  it('name what cannot be made again after two events were swapped [10.3p]', async () => {
    const store = new MemoryEventStore();
    const events = playedMind('cy', 2, house);
    const [first, second, ...rest] = events;
    if (first === undefined || second === undefined) throw new Error('too short');
    await store.append(npcStream('studio', 'cy'), 'no_stream', [second, first, ...rest]);
    const { found } = await runAll(store, ['cy']);
    expect(found.skipped.turn).toBe(1);
    expect(found.notReplayed?.[0]).toEqual({ npcId: 'cy', turnId: 't0', revision: 0, reason: 'turn' });
    const cut = await runAll(inPagesOf(store, 2), ['cy'], {}, { anew: true });
    expect(cut.found.notReplayed).toEqual(found.notReplayed);
  });

  describe('with minds whose replay fails', () => {
    const all = ['ada', 'bo', 'cy', 'dan'];
    /** A store in which each look at these minds fails. */
    const failingAt = (store: EventStore, bad: readonly string[], failure: () => Error) => {
      const looks: string[] = [];
      const read: EventStore['read'] = (stream, range) => {
        const npcId = bad.find((one) => stream === npcStream('studio', one));
        if (npcId === undefined) return store.read(stream, range);
        looks.push(npcId);
        return Promise.reject(failure());
      };
      return { events: { read }, looks };
    };

    it.each([1, 3])('set them aside after three tries, and hold up nobody (%i threads) [10.3v]', async (hands) => {
      const store = await storeWith({ ada: 2, bo: 2, cy: 2, dan: 2 });
      for (const failure of [() => new ThreadEnded(), () => new TypeError('x is undefined')]) {
        const { events, looks } = failingAt(store, ['bo', 'dan'], failure);
        const { found } = await runAll(events, all, {}, { hands, sliceMs: 500 });
        expect(found).toMatchObject({ concerned: 2, turns: { equal: 4, different: 0 } });
        expect(found.setAside?.minds).toBe(2);
        expect(found.setAside?.named.map(({ npcId }) => npcId).sort()).toEqual(['bo', 'dan']);
        expect(looks.sort().join()).toBe('bo,bo,bo,dan,dan,dan');
      }
    });

    it('count what other minds did once, although their thread was lost [10.3v]', async () => {
      const store = await storeWith({ ada: 2, bo: 2 });
      let left = 2;
      const { events } = failingAt(store, ['bo'], () => new ThreadEnded());
      const read: EventStore['read'] = (stream, range) =>
        stream === npcStream('studio', 'bo') && (left -= 1) >= 0
          ? events.read(stream, range)
          : store.read(stream, range);
      const { found } = await runAll({ read }, ['ada', 'bo'], {}, { sliceMs: 500 });
      expect(found).toMatchObject({ concerned: 2, turns: { equal: 4, different: 0 } });
      expect(found).not.toHaveProperty('setAside');
    });

    it('repeat what passes, and say why for what does not [10.3v]', async () => {
      const store = await storeWith({ ada: 2, bo: 2 });
      const damaged = failingAt(store, ['bo'], () => new Rejection('STORE_UNAVAILABLE', { message: 'Damaged.' }));
      const { found } = await runAll(damaged.events, ['ada', 'bo']);
      expect(found.setAside?.named).toEqual([{ npcId: 'bo', reason: 'Damaged.' }]);
      const outage = failingAt(store, ['bo'], () => new Rejection('STORE_UNAVAILABLE', { retryAfter: 1 }));
      await expect(runAll(outage.events, ['ada', 'bo'])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(outage.looks).toEqual(['bo']);
    });
  });

  it('end when they are cancelled [10.3i]', async () => {
    const store = await storeWith({ cy: 2 });
    const stop = new AbortController();
    stop.abort(new Error('cancelled'));
    const hand = processOf(store).begin({ task, known: noFindings, ms: 1 })[0];
    await expect(hand?.part({ npcId: 'cy', next: 0 }, stop.signal)).rejects.toThrow('cancelled');
  });
});
