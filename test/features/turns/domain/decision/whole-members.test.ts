import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { buildPrompt } from '../../../../../src/features/turns/domain/decision/prompt.js';
import { TEXT_RULES_BEFORE_3 } from '../../../../../src/features/turns/domain/decision/text-rules.js';
import { wholeMembers } from '../../../../../src/features/turns/domain/decision/whole-members.js';
import type { Json, JsonObject } from '../../../../../src/kernel/base/json.js';
import { anInput } from '../../../../support/rules.js';

const recordedBytes = (value: Json): number => Buffer.byteLength(JSON.stringify(JSON.stringify(value))) - 2;

describe('a value that is too large for a prompt', () => {
  it('stays as it is while it fits', () => {
    const state = { hp: 3, notes: 'x'.repeat(900) };
    expect(wholeMembers(state, 1_000)).toBe(state);
  });

  it('loses whole members, the largest first, and says how many [13.2b]', () => {
    const state = { log: { all: 'x'.repeat(900) }, hp: 3, diary: { all: 'y'.repeat(500) }, mood: 'calm' };
    expect(wholeMembers(state, 700)).toMatchObject({ hp: 3, mood: 'calm', diary: state.diary, '…': '1 more' });
  });

  it('keeps the first entries of a list, and the beginning of a text [13.2b]', () => {
    const items = Array.from({ length: 300 }, (_, n) => `item ${String(n)}`);
    const kept = wholeMembers({ hp: 3, items }, 1_000) as { hp: number; items: string[] };
    expect(kept.hp).toBe(3);
    expect(kept.items.slice(0, 3)).toEqual(['item 0', 'item 1', 'item 2']);
    expect(kept.items.at(-1)).toMatch(/^… \d+ more$/);
    expect(wholeMembers({ hp: 3, notes: 'n'.repeat(5_000) }, 1_000)).toMatchObject({
      hp: 3,
      notes: expect.stringMatching(/^n{100,}…$/) as string,
    });
  });

  it('shows members of members, however deep they are, while there is room [13.2b]', () => {
    const npcs = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [
        `npc ${String(n)}`,
        { hp: n, mood: 'calm', place: 'at the well, or near it' },
      ]),
    );
    let state: Json = { npcs };
    for (const name of ['village', 'valley', 'region', 'world']) state = { [name]: state, hour: 5 };
    const text = JSON.stringify(wholeMembers(state, 8_000));
    expect(text).toContain('{"hp":0,"mood":"calm","place":"at the well, or near it"}');
    expect(text.match(/"hp"/g)?.length).toBeGreaterThan(80);
    expect(text.match(/"hour":5/g)).toHaveLength(4);
  });

  it('keeps a member of the game that has the name of the note [13.2b]', () => {
    const state = { '…': 'mine', hp: 3, log: { all: 'x'.repeat(9_000) }, notes: { all: 'x'.repeat(9_000) } };
    expect(wholeMembers(state, 1_000)).toMatchObject({ '…': 'mine', hp: 3, '……': '1 more' });
  });

  it('is as it was up to exactly its size [13.2b]', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const state = { value: value as Json, text: 'é"\\\n\u0007😀'.repeat(10), n: [1.5e300, true, null, {}] };
        expect(wholeMembers(state, recordedBytes(state))).toBe(state);
        expect(wholeMembers(state, recordedBytes(state) - 1)).not.toBe(state);
      }),
    );
  });

  it('fits, whatever it is [13.2b]', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 100, max: 2_000 }), (value, bytes) => {
        const wide = { value: [value, value] as Json, text: 'é"\\'.repeat(400) };
        expect(recordedBytes(wholeMembers(wide, bytes))).toBeLessThanOrEqual(bytes);
      }),
    );
  });

  it('is a whole JSON document in the prompt [13.2b]', () => {
    const npcState: JsonObject = Object.fromEntries(
      Array.from({ length: 400 }, (_, n) => [`slot ${String(n)}`, `"${'<|x|>'.repeat(n % 20)}"`]),
    );
    const { prompt } = buildPrompt(anInput({ npcState }));
    const line = /^Your state: (.*)$/m.exec(prompt)?.[1] ?? '';
    expect(Object.keys(JSON.parse(line) as object).length).toBeGreaterThan(50);
  });

  it('is guarded once, if it cannot be shortened', () => {
    let guarded = 0;
    const guard = (text: string): string => {
      guarded += text.includes('<|x|>') ? 1 : 0;
      return TEXT_RULES_BEFORE_3.guard(text);
    };
    const context = { marks: '<|x|>'.repeat(5_000) };
    buildPrompt(anInput({ context, texts: { ...TEXT_RULES_BEFORE_3, guard } }));
    expect(guarded).toBe(1);
  });

  it('takes a few milliseconds, however large and deep it is', () => {
    let deep: Json = 'x'.repeat(200_000);
    for (let n = 0; n < 30; n += 1) deep = { n: deep };
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [String(n), n]));
    const began = performance.now();
    const lists = { a: Array.from({ length: 100_000 }, () => '<|>') };
    let nested: Json = wide;
    for (let n = 0; n < 60; n += 1) nested = { n: nested, [`pad ${String(n)}`]: Array.from({ length: 900 }, () => n) };
    for (const value of [deep, wide, lists, nested]) wholeMembers(value, 9_800);
    expect(performance.now() - began).toBeLessThan(4_000);
  });
});
