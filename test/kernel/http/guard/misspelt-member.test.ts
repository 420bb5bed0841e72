import { describe, expect, it } from 'vitest';

import { compileDeciding, type DecidingMembers } from '../../../../src/kernel/http/guard/misspelt-member.js';
import type { Json, JsonObject } from '../../../../src/kernel/base/json.js';
import { Rejection } from '../../../../src/kernel/base/rejection.js';

const refusalBy =
  (members: DecidingMembers) =>
  (body: Json | undefined): unknown => {
    try {
      compileDeciding(members)(body);
      return null;
    } catch (error) {
      return error instanceof Rejection ? [error.code, error.details] : error;
    }
  };
const misspelt = (member: string, meant?: string) => [
  'MEMBER_MISSPELT',
  meant === undefined ? { member } : { member, meant },
];

const ofTape = refusalBy({ decidesBy: ['/tape/rulesetId', '/tape/context', '/tape/npcState'] });
const ofAct = refusalBy({ decidesBy: ['/rulesetId', '/context', '/npcState'] });
const ofNpc = refusalBy({ decidesBy: ['/rulesetId'] });
const ofAgent = refusalBy({ decidesBy: ['/context', '/context/npcState'], ignoresRulesetId: true });
const ofBridge = refusalBy({
  decidesBy: ['/context', '/context/npcState', '/context/worldState', '/context/constraints'],
  ignoresRulesetId: true,
});
const inTape = (tape: JsonObject) => ofTape({ tape });

describe('the name of a member that decides', () => {
  it.each([
    ...['rulesetID', 'ruleSetId', 'ruleset_id', 'RULESET-ID', 'rulestId', 'rulesetdI', 'rulesetIds', 'myRulesetId'],
    ...['ruleset', 'ruleSet', 'rulesets', 'rulesetName', 'rulesId', 'rulset', 'rule_set', 'rules', 'ruleId', 'setId'],
  ])('is refused if it only resembles rulesetId: %s [2.1q]', (member) => {
    const refused = misspelt(`/tape/${member}`, '/tape/rulesetId');
    expect(inTape({ observation: 'x', [member]: 'gate' })).toEqual(refused);
    expect(inTape({ [member]: 'gate', rulesetId: null })).toEqual(refused);
    expect(inTape({ [member]: null })).toBeNull();
    expect(inTape({ [member]: 'gate', rulesetId: 'gate' })).toBeNull();
    expect(inTape({ [member]: 'gate', rulesetId: '' })).toEqual(refused);
    expect(ofTape({ tape: {}, [member]: 'gate' })).toEqual(misspelt(`/${member}`, '/tape/rulesetId'));
    expect(ofAct({ tape: { [member]: 'gate' } })).toEqual(misspelt(`/tape/${member}`, '/rulesetId'));
  });

  it.each(['rulesetId', 'rulers', 'result', 'reset', 'rulesetVersion', 'resultsets', 'x'.repeat(65)])(
    'is accepted: %s',
    (member) => {
      expect(inTape({ [member]: 'gate' })).toBeNull();
    },
  );

  it('is no id if it holds rules [2.1q]', () => {
    for (const rules of [[], 'Never lie.', 'x'.repeat(2_000)]) {
      expect(inTape({ rules })).toBeNull();
      expect(ofNpc({ persona: 'Mira', rules })).toBeNull();
    }
  });

  it.each([
    ['contxt', '/tape/context'],
    ['Context', '/tape/context'],
    ['contexts', '/tape/context'],
    ['npc_state', '/tape/npcState'],
    ['npcSate', '/tape/npcState'],
  ])('is refused if it only resembles another member that decides: %s [2.1q]', (member, meant) => {
    const refused = misspelt(`/tape/${member}`, meant);
    expect(inTape({ [member]: {} })).toEqual(refused);
    expect(inTape({ [member]: { hour: 23 }, context: { hour: 3 }, npcState: { hp: 5 } })).toBeNull();
    // What is empty is as good as absent: a client sends the empty context of the last tape again.
    for (const empty of [{}, [], null, ''])
      expect(inTape({ [member]: { hour: 23 }, context: empty, npcState: empty })).toEqual(refused);
    expect(inTape({ [member]: null })).toBeNull();
    // A body that has no such member cannot mean it.
    expect(ofNpc({ [member]: {} })).toBeNull();
  });

  it.each(['content', 'state', 'worldState', 'npcStats', 'ctxMessages', 'npcId', 'constructor'])(
    'is accepted where it is another word: %s',
    (member) => {
      expect(inTape({ [member]: { hour: 23 } })).toBeNull();
    },
  );

  it.each([
    ['contxt', '/contxt', '/context'],
    ['npcState', '/npcState', '/context/npcState'],
    ['worldState', '/worldState', '/context/worldState'],
    ['world_state', '/world_state', '/context/worldState'],
    ['constraints', '/constraints', '/context/constraints'],
  ])('is refused beside the context of the bridge: %s [2.1q]', (name, member, meant) => {
    expect(ofBridge({ action: 'SELL', [name]: { hp: 0 } })).toEqual(misspelt(member, meant));
  });

  it.each([
    ['npc_state', 'npcState'],
    ['NpcState', 'npcState'],
    ['world_state', 'worldState'],
    ['WorldState', 'worldState'],
    ['Constraints', 'constraints'],
    ['constraint', 'constraints'],
    ['npcSate', 'npcState'],
  ])('is refused in the context of the bridge: %s [2.1q]', (name, meant) => {
    const refused = misspelt(`/context/${name}`, `/context/${meant}`);
    expect(ofBridge({ action: 'SELL', context: { [name]: { hp: 0 } } })).toEqual(refused);
    expect(ofBridge({ action: 'SELL', context: { [name]: { hp: 0 }, [meant]: { hp: 1 } } })).toBeNull();
  });

  it.each(['worldDate', 'worldStats', 'worldStatus', 'worldStage', 'npcStage'])(
    'is accepted where it is a word of the game: %s [2.1q]',
    (name) => {
      for (const value of [{ hp: 0 }, 'none', 7]) expect(ofBridge({ context: { [name]: value } })).toBeNull();
    },
  );

  it('is accepted in what a game tells if its value cannot be meant [2.1q]', () => {
    for (const value of ['none', 7, [], true]) expect(ofBridge({ context: { world_state: value } })).toBeNull();
  });

  it('is looked for in objects alone, and among their first members', () => {
    for (const tape of [null, 'ruleset', ['ruleset']]) expect(ofTape({ tape })).toBeNull();
    for (const body of [null, undefined, 'ruleset', ['ruleset']]) expect(ofAct(body)).toBeNull();
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`member${String(n)}`, 1]));
    expect(inTape({ ...many, ruleset: 'gate' })).toBeNull();
  });
});

describe('the place of a member that decides', () => {
  const rulesetId = 'gate';
  const context = { hour: 3 };
  const npcState = { hp: 5 };

  it('is refused where it would be ignored [2.1q]', () => {
    expect(ofTape({ rulesetId, tape: {} })).toEqual(misspelt('/rulesetId', '/tape/rulesetId'));
    expect(ofTape({ context, tape: {} })).toEqual(misspelt('/context', '/tape/context'));
    expect(ofTape({ context, tape: { context: {} } })).toEqual(misspelt('/context', '/tape/context'));
    expect(ofTape({ npcState, tape: {} })).toEqual(misspelt('/npcState', '/tape/npcState'));
    expect(ofTape({ npc_state: npcState, tape: {} })).toEqual(misspelt('/npc_state', '/tape/npcState'));
    expect(ofAct({ tape: { rulesetId } })).toEqual(misspelt('/tape/rulesetId', '/rulesetId'));
    expect(ofAct({ tape: { context } })).toEqual(misspelt('/tape/context', '/context'));
    expect(ofAct({ tape: { npcState } })).toEqual(misspelt('/tape/npcState', '/npcState'));
    expect(ofNpc({ tape: { rulesetId } })).toEqual(misspelt('/tape/rulesetId', '/rulesetId'));
    expect(ofAgent({ npcState })).toEqual(misspelt('/npcState', '/context/npcState'));
    expect(ofAgent({ context: { npc_state: npcState } })).toEqual(misspelt('/context/npc_state', '/context/npcState'));
    expect(ofAgent({ tape: { context } })).toEqual(misspelt('/tape/context', '/context'));
  });

  it('is refused in the context if it belongs beside it [2.1q]', () => {
    for (const name of ['npcState', 'npc_state']) {
      const told = { [name]: npcState };
      expect(ofAct({ context: told })).toEqual(misspelt(`/context/${name}`, '/npcState'));
      expect(ofAct({ context: told, npcState: {} })).toEqual(misspelt(`/context/${name}`, '/npcState'));
      expect(inTape({ context: told })).toEqual(misspelt(`/tape/context/${name}`, '/tape/npcState'));
      expect(ofAct({ context: told, npcState })).toBeNull();
    }
    for (const own of ['calm', {}, null, []]) expect(ofAct({ context: { npcState: own } })).toBeNull();
    expect(ofAct({ npcState: { context, npcState } })).toBeNull();
  });

  it.each(['rulesetId', 'ruleset_id', 'RulesetID'])('is refused in what a game tells: %s [2.1q]', (name) => {
    for (const holder of ['context', 'npcState']) {
      expect(inTape({ [holder]: { [name]: 'gate' } })).toEqual(misspelt(`/tape/${holder}/${name}`, '/tape/rulesetId'));
      expect(ofAct({ [holder]: { [name]: 'gate' } })).toEqual(misspelt(`/${holder}/${name}`, '/rulesetId'));
      expect(ofAct({ [holder]: { [name]: 7 } })).toBeNull();
      // A body that has no such member may hold anything under its name.
      expect(ofNpc({ [holder]: { [name]: 'gate' } })).toBeNull();
    }
    // The words of a game are its own.
    for (const word of ['ruleset', 'rules', 'setId', 'contexts', 'npcSate'])
      expect(ofAct({ context: { [word]: 'gate' } })).toBeNull();
  });

  it('is not named if the route reads it nowhere [2.1q]', () => {
    for (const refused of [ofAgent, ofBridge]) {
      expect(refused({ rulesetId })).toEqual(misspelt('/rulesetId'));
      expect(refused({ ruleset: 'gate' })).toEqual(misspelt('/ruleset'));
      expect(refused({ tape: { rulesetId } })).toEqual(misspelt('/tape/rulesetId'));
      expect(refused({ context: { rulesetId } })).toEqual(misspelt('/context/rulesetId'));
      expect(refused({ rulesetId: null, context: { rulesetId: null } })).toBeNull();
      expect(refused({ rulesetId: '' })).toBeNull();
    }
  });

  it('is of no matter if nothing is there, or if something is in the right place, too', () => {
    expect(ofTape({ rulesetId, context, tape: { rulesetId, context } })).toBeNull();
    for (const body of [
      { context: {}, tape: {} },
      { rulesetId: null, tape: {} },
      { rulesetId: '', tape: {} },
    ])
      expect(ofTape(body)).toBeNull();
    expect(ofAct({ tape: 'x' })).toBeNull();
  });
});
