import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { type Act, actContext, actDirective, actVerdict } from '../../../src/features/turns/act.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import { rulesetFold } from '../../../src/features/rules/ruleset-fold.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { registerRuleset } from '../../../src/features/rules/domain/decide.js';
import { npcStream, rulesetStream } from '../../../src/kernel/base/stream-names.js';
import { event } from '../../support/events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { aRule } from '../../support/rules.js';
import { eventsOf, onBehalf } from '../../support/streams.js';

const stream = npcStream('studio', 'mira');
const registered = event('registered', { type: 'NpcRegistered', data: { persona: 'An innkeeper.', data: { hp: 3 } } });
const inn = { rulesetId: 'inn', template: null, rulesetRules: [aRule({ ruleAction: 'FORBID ATTACK' })] };

/** A mind of one event, and the set `inn` in its first version. */
const setUp = async () => {
  const store = new MemoryEventStore();
  const clock = new ManualClock();
  const writers = new StreamWriters(store, clock);
  const ports = { events: store, clock };
  await store.append(stream, 'no_stream', [registered]);
  const register = onBehalf('register');
  await runCommand({ ...ports, writers }, rulesetStream('studio', 'inn'), rulesetFold, register, (state) =>
    registerRuleset(state, inn),
  );
  const issuer = () => ({ kid: 'key-1', iss: 'http://test' });
  return {
    deps: { ports, writers, rulesets: openRulesets(writers, ports.events), issuer },
    recorded: async () => (await eventsOf(store, stream)).slice(1),
  };
};
const asked = (members: Partial<Act> = {}, resumed = false): Act => ({
  npcId: 'mira',
  observation: 'A stranger comes in.',
  context: {},
  npcState: {},
  by: { ...onBehalf('act'), resumed },
  ...members,
});
const remembered = { text: 'He owes me.', type: 'experience', importance: 0.5, similarity: 0.7 };

describe('every act', () => {
  it('records the matching patterns before the decision', async () => {
    const { deps, recorded } = await setUp();
    await runCommand(
      { ...deps.ports, writers: deps.writers },
      rulesetStream('studio', 'inn'),
      rulesetFold,
      onBehalf('again'),
      (state) =>
        registerRuleset(state, {
          ...inn,
          rulesetRules: ['stranger', 'dragon'].map((word) =>
            aRule({ drRuleId: word, ruleObsPattern: word, ruleAction: 'FORBID *', ruleReason: word }),
          ),
        }),
    );
    const act = (commandId: string) => ({
      ...asked({ rulesetId: 'inn' }),
      by: { ...onBehalf(commandId), resumed: false },
    });
    await actDirective(deps, { ...act('one'), context: {} });
    await actContext(deps, { ...act('two'), memories: [] });
    await actVerdict(deps, { ...act('three'), generatedOutput: 'Hm.' });
    const patternsHeld = ['stranger'];
    expect((await recorded()).map(({ type, data }) => ({ type, data }))).toMatchObject([
      { type: 'DirectiveGiven', data: { patternsHeld } },
      { type: 'ContextBuilt', data: { patternsHeld } },
      { type: 'VerdictRefused', data: { asked: { patternsHeld }, verdict: { dialogue: 'stranger' } } },
    ]);
  });
});

describe('the directive route', () => {
  it('records its decision and answers from the event [2.7a]', async () => {
    const { deps, recorded } = await setUp();
    const acted = await actDirective(deps, { ...asked({ npcState: { mood: 'calm' } }), context: { at: 'inn' } });
    const events = await recorded();
    expect(events.map(({ type }) => type)).toEqual(['DirectiveGiven']);
    expect(acted.event).toEqual(events[0]?.data);
    expect(acted.event).toMatchObject({
      mindRevision: 0,
      observation: 'A stranger comes in.',
      context: { at: 'inn' },
      npcState: { mood: 'calm' },
      ruleset: null,
      memoryRecall: { query: 'A stranger comes in.', limit: 5, threshold: 0.5 },
    });
    expect(acted.event.turnId).toMatch(/^d/);
    expect(acted).toMatchObject({ revision: 1, position: 3, at: { revision: 1, at: '2026-01-01T00:00:00.000Z' } });
    expect(acted).not.toHaveProperty('rulesetMissing');
  });
});

describe('the context route', () => {
  it('records the prompt with its inputs, and answers from the event [2.7b]', async () => {
    const { deps, recorded } = await setUp();
    const acted = await actContext(deps, {
      ...asked({ rulesetId: 'inn' }),
      memories: [remembered],
      persona: 'A thief.',
    });
    const events = await recorded();
    expect(events.map(({ type }) => type)).toEqual(['ContextBuilt']);
    expect(acted.event).toEqual(events[0]?.data);
    expect(acted.event).toMatchObject({
      memories: [remembered],
      persona: 'A thief.',
      ruleset: { rulesetId: 'inn', version: 1 },
      ctxMessages: null,
    });
    for (const part of ['A thief.', 'He owes me.', '"hp":3']) expect(acted.event.prompt).toContain(part);
    expect(acted.event.turnId).toMatch(/^c/);
  });
});

describe('the verdict route', () => {
  const generatedOutput = '{"dialogue": "Out!", "action": "ATTACK", "stateDelta": {"mood": "angry"}}';

  it('records a valid verdict with its state change and its memories, and the key that signs it [2.1h, 2.7c, 2.9e]', async () => {
    const { deps, recorded } = await setUp();
    const acted = await actVerdict(deps, { ...asked(), generatedOutput });
    const events = await recorded();
    expect(events.map(({ type }) => type)).toEqual(['VerdictReached', 'StateChanged', 'MemoryStored']);
    expect(acted.event).toEqual(events[0]?.data);
    expect(acted.event).toMatchObject({
      generatedOutput,
      verdict: { valid: true, stateDelta: { mood: 'angry' } },
      kid: 'key-1',
      iss: 'http://test',
      asked: { observation: 'A stranger comes in.', npcState: {}, ruleset: null },
    });
    expect(new Set(events.map(({ data }) => data['turnId']))).toEqual(new Set([acted.event.turnId]));
    expect(acted).toMatchObject({ revision: 3, at: { revision: 1 } });
  });

  it('records a refused verdict alone and unsigned [2.7e]', async () => {
    const { deps, recorded } = await setUp();
    const acted = await actVerdict(deps, { ...asked({ rulesetId: 'inn' }), generatedOutput });
    expect((await recorded()).map(({ type }) => type)).toEqual(['VerdictRefused']);
    expect(acted.event.verdict.valid).toBe(false);
    expect(acted.event).not.toHaveProperty('kid');
  });
});

describe('every compatibility route', () => {
  it('decides without an unregistered ruleset, and reports that [2.8c]', async () => {
    const { deps, recorded } = await setUp();
    const acted = await actDirective(deps, { ...asked({ rulesetId: 'nowhere' }), context: {} });
    const [missing, given] = await recorded();
    expect(missing).toMatchObject({
      type: 'RulesetMissing',
      data: { turnId: acted.event.turnId, rulesetId: 'nowhere' },
    });
    expect(given?.type).toBe('DirectiveGiven');
    expect(acted).toMatchObject({ rulesetMissing: 'nowhere', at: { revision: 2 }, revision: 2 });
  });

  it('answers from the events of a first attempt that died, even after the rules changed', async () => {
    const { deps, recorded } = await setUp();
    const first = await actDirective(deps, { ...asked({ rulesetId: 'nowhere' }), context: {} });
    await actVerdict(deps, { ...asked({ by: { ...onBehalf('other'), resumed: false } }), generatedOutput: 'No.' });
    const before = await recorded();
    const again = await actDirective(deps, { ...asked({ rulesetId: 'inn' }, true), context: {} });
    expect(again).toMatchObject({ event: first.event, at: first.at, rulesetMissing: 'nowhere' });
    expect(await recorded()).toEqual(before);
  });

  it('creates a mind by its first event [1.6f]', async () => {
    const { deps } = await setUp();
    const acted = await actDirective(deps, { ...asked({ npcId: 'new' }), context: {} });
    expect(acted).toMatchObject({ event: { mindRevision: -1 }, revision: 0 });
  });
});
