import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../../../src/features/npcs/domain/events.js';
import {
  finalizeWire,
  verdictClaims,
  verdictDigest,
  verdictFromWire,
  verdictWire,
} from '../../../../src/features/turns/domain/signature.js';

const valid: Verdict = {
  valid: true,
  dialogue: 'Halt!',
  action: { type: 'SPEAK', target: '', confidence: 0.1 },
  stateDelta: { hp: 0.2 },
  memoryStore: [{ text: 'a', type: 'observation', importance: 0.5 }],
};
const refused: Verdict = {
  valid: false,
  dialogue: 'It cannot.',
  action: null,
  stateDelta: {},
  memoryStore: [],
  refusedAction: { type: 'MOVE' },
  code: 'MOVE_TARGET_MISSING',
  details: {},
};
const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');
const facts = {
  iss: 'http://here',
  tenant: 'local',
  npcId: 'guard',
  turnId: 't1',
  revision: 7,
  at: '2026-11-21T10:00:00.999Z',
  observation: 'A "stranger".',
  ruleset: null,
};

describe('the claims of a verdict', () => {
  it('are taken from the record [2.9c]', () => {
    expect(verdictClaims(facts, valid)).toEqual({
      iss: 'http://here',
      sub: 'guard',
      jti: 't1',
      iat: 1_795_255_200,
      tenant: 'local',
      revision: 7,
      observationDigest: sha256('"A \\"stranger\\"."'),
      verdictDigest: verdictDigest(valid),
    });
  });

  it('name the rules that decided, if the record has their digest [2.9c]', () => {
    const used = { rulesetId: 'gate', version: 2 };
    expect(verdictClaims({ ...facts, ruleset: used }, valid)).toEqual(verdictClaims(facts, valid));
    const withDigest = { ...used, digest: sha256('{}') };
    expect(verdictClaims({ ...facts, ruleset: withDigest }, valid).ruleset).toEqual({
      id: 'gate',
      version: 2,
      digest: sha256('{}'),
    });
    expect(verdictClaims({ ...facts, ruleset: { ...withDigest, asked: 'free' } }, valid).ruleset).toMatchObject({
      id: 'gate',
      asked: 'free',
    });
  });

  it('digest the canonical form, with numbers rounded to single precision [2.9d]', () => {
    const text =
      '{"action":{"confidence":0.10000000149011612,"target":"","type":"SPEAK"},"dialogue":"Halt!",' +
      '"memoryStore":[{"importance":0.5,"text":"a","type":"observation"}],"stateDelta":{"hp":0.20000000298023224},"valid":true}';
    expect(verdictDigest(valid)).toBe(sha256(text));
  });

  it.each<[string, Partial<Verdict>, boolean]>([
    ['key order', { action: { confidence: 0.1, target: '', type: 'SPEAK' } }, true],
    ['single-precision rounding', { stateDelta: { hp: Math.fround(0.2) } }, true],
    ['another dialogue', { dialogue: 'Halt' }, false],
    ['another state change', { stateDelta: { hp: 0.3 } }, false],
    ['another action', { action: { type: 'MOVE', target: '' } }, false],
    ['other memories', { memoryStore: [] }, false],
  ])('treat %s as the same verdict: %s', (_, change, same) => {
    expect(verdictDigest({ ...valid, ...change }) === verdictDigest(valid)).toBe(same);
  });

  it('keep a number that single precision cannot represent', () => {
    const huge = (hp: number) => verdictDigest({ ...valid, stateDelta: { hp } });
    expect(huge(1e300)).not.toBe(huge(1e301));
  });
});

describe('a verdict on the wire', () => {
  const signature = 'a.b.c';
  const { stateDelta, ...others } = valid;

  it('ends a turn with stateTransform, and answers the verdict route with stateDelta [2.7c]', () => {
    expect(finalizeWire(valid, signature)).toEqual({ ...others, signature, stateTransform: stateDelta });
    expect(verdictWire(valid, signature)).toEqual({ ...others, signature, stateDelta });
  });

  it('has neither action nor signature when it is invalid, and shows the refused action [2.4a]', () => {
    expect(finalizeWire(refused, null)).toEqual({
      valid: false,
      signature: null,
      memoryStore: [],
      stateTransform: {},
      action: null,
      dialogue: 'It cannot.',
      refusedAction: { type: 'MOVE' },
      code: 'MOVE_TARGET_MISSING',
      details: {},
    });
  });

  it.each([finalizeWire(valid, signature), verdictWire(valid, signature)])('parses to the same verdict', (wire) => {
    const read = verdictFromWire(wire);
    expect(read === null ? null : verdictDigest(read)).toBe(verdictDigest(valid));
  });

  it.each([
    {},
    { ...valid, dialogue: 5 },
    { ...valid, valid: 'yes' },
    { ...valid, stateDelta: [] },
    { ...valid, memoryStore: {} },
    { ...valid, action: 'SPEAK' },
  ])('is refused in any other form', (body) => {
    expect(verdictFromWire(body as never)).toBeNull();
  });
});
