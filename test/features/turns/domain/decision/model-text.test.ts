import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { readModelText } from '../../../../../src/features/turns/domain/decision/model-text.js';
import { jcs } from '../../../../../src/kernel/base/json.js';

const said = (members: object) => ({
  dialogue: '',
  action: undefined,
  excess: null,
  stateChange: undefined,
  memories: [],
  structured: true,
  ...members,
});
const plain = (dialogue: string) => said({ dialogue, structured: false });

describe('reading a model’s text', () => {
  it.each<[string, string, object]>([
    ['plain text as dialogue', 'Halt! Who goes there?', plain('Halt! Who goes there?')],
    ['empty text as empty dialogue', '', plain('')],
    ['an object', '{"dialogue":"Hi","action":{"type":"WAVE"}}', said({ dialogue: 'Hi', action: { type: 'WAVE' } })],
    ['an action as a word', '{"dialogue":"Hi","action":"WAVE"}', said({ dialogue: 'Hi', action: 'WAVE' })],
    ['an object in prose', 'Sure! {"dialogue":"Hi"} Hope it helps.', said({ dialogue: 'Hi' })],
    ['an object in a code fence', 'Here:\n```json\n{"dialogue":"Hi"}\n```\n', said({ dialogue: 'Hi' })],
    ['the last of several', '{"dialogue":"one"} then {"dialogue":"two"}', said({ dialogue: 'two' })],
    ['a complete one before a broken one', '{"dialogue":"one"} {\'dialogue\': \'two\'}', said({ dialogue: 'one' })],
    ['the last that has a member', '{"dialogue":"one"} then {"mood":"two"}', said({ dialogue: 'one' })],
    [
      'an outer object before its inner ones',
      '{"dialogue":"x","stateDelta":{"action":"y"}}',
      said({ dialogue: 'x', stateChange: { action: 'y' } }),
    ],
    ['a wrapped object', '{"answer":{"dialogue":"Hi"}}', said({ dialogue: 'Hi' })],
    ['an object in a list', '[{"dialogue":"Hi"}]', said({ dialogue: 'Hi' })],
    ['braces in quoted text', '{"dialogue":"a } b { c"}', said({ dialogue: 'a } b { c' })],
    ['a stray brace before it', 'I feel {happy. {"dialogue":"Hi"}', said({ dialogue: 'Hi' })],
    ['stray braces in prose', 'set {a} and {b} to 1', plain('set {a} and {b} to 1')],
    ['single quotes', "{'dialogue': 'Hi', 'action': 'WAVE'}", said({ dialogue: 'Hi', action: 'WAVE' })],
    [
      'names without quotes and an extra comma',
      '{dialogue: "Hi", action: "WAVE",}',
      said({ dialogue: 'Hi', action: 'WAVE' }),
    ],
    [
      'quotes within quotes',
      '{"dialogue": "He said "no" to me", "action": "WAVE"}',
      said({ dialogue: 'He said "no" to me', action: 'WAVE' }),
    ],
    ['half an object, of which no member is complete', '{"dialogue": "Hello there', said({})],
    [
      'half an object after prose',
      'Well: {"dialogue": "Hello", "action": {"type": "WAVE"',
      said({ dialogue: 'Hello' }),
    ],
    [
      'prose behind a broken object',
      "{'dialogue': 'the 6\" blade', 'action': 'IDLE'} bye",
      said({ dialogue: 'the 6" blade', action: 'IDLE' }),
    ],
    ['an object without any of the members as text', '{"mood":"calm"}', plain('{"mood":"calm"}')],
    ['stateTransform for stateDelta', '{"stateTransform":{"a":1}}', said({ stateChange: { a: 1 } })],
    ['stateDelta wins', '{"stateDelta":{"a":1},"stateTransform":{"a":2}}', said({ stateChange: { a: 1 } })],
    ['a state change of another kind, for the verdict to refuse', '{"stateDelta":[1]}', said({ stateChange: [1] })],
    ['null as absent', '{"dialogue":null,"action":null,"stateDelta":null,"memoryStore":null}', said({})],
    ['an empty action as absent', '{"dialogue":"Hi","action":""}', said({ dialogue: 'Hi' })],
    ['dialogue in lines', '{"dialogue":["a","b"]}', said({ dialogue: 'a\nb' })],
    [
      'memories with their members',
      '{"memoryStore":[{"text":"a","type":"emotion","importance":0.9},{"content":"b"},"c",{"type":"x"},5]}',
      said({
        memories: [
          { text: 'a', type: 'emotion', importance: 0.9 },
          { text: 'b', type: 'observation', importance: 0.5 },
          { text: 'c', type: 'observation', importance: 0.5 },
        ],
      }),
    ],
    [
      'memories for memoryStore',
      '{"memories":["a"]}',
      said({ memories: [{ text: 'a', type: 'observation', importance: 0.5 }] }),
    ],
    [
      'importance within its bounds',
      '{"memories":[{"text":"a","importance":7}]}',
      said({ memories: [{ text: 'a', type: 'observation', importance: 1 }] }),
    ],
    [
      'numbers that JSON cannot represent',
      '{"action":{"type":"WAVE","x":1e999}}',
      said({ action: { type: 'WAVE', x: null } }),
    ],
    ['half characters', '{"dialogue":"a\\ud800b"}', said({ dialogue: 'a\ufffdb' })],
  ])('reads %s [2.8r, 2.8s]', (_, text, expected) => {
    expect(readModelText(text)).toEqual(expected);
  });

  it('ignores __proto__ and changes no prototype', () => {
    const { action } = readModelText(
      '{"dialogue":"x","action":{"type":"WAVE","__proto__":{"polluted":true},"constructor":1}}',
    );
    expect(Object.keys(action as object)).toEqual(['type', 'constructor']);
    expect({}).not.toHaveProperty('polluted');
  });

  it('bounds the number of stored memories, and their text', () => {
    const { memories } = readModelText(
      JSON.stringify({ memories: Array.from({ length: 99 }, () => 'ä'.repeat(9_000)) }),
    );
    expect(memories).toHaveLength(5);
    const short = readModelText(JSON.stringify({ memories: Array.from({ length: 99 }, () => 'a') }));
    expect(short.memories).toHaveLength(16);
    expect(new TextEncoder().encode(memories[0]?.text)).toHaveLength(8_192);
  });

  it('reads a valid object beyond the search limit if it is the entire text', () => {
    const dialogue = 'x'.repeat(400_000);
    expect(readModelText(JSON.stringify({ dialogue })).dialogue).toBe(dialogue);
  });

  it('reads only the beginning of a larger object in prose', () => {
    const answer = JSON.stringify({ action: 'WAVE', dialogue: 'x'.repeat(400_000) });
    expect(readModelText(`So: ${answer}`)).toEqual(said({ action: 'WAVE' }));
  });

  it('searches for no more memories than are stored', () => {
    let looked = 0;
    const lookedAt = new Proxy(
      { text: 'a' },
      { get: (body, name) => ((looked += 1), Reflect.get(body, name) as string) },
    );
    const parse = vi.spyOn(JSON, 'parse').mockReturnValue({ memories: Array.from({ length: 99 }, () => lookedAt) });
    const { memories } = readModelText('{}');
    parse.mockRestore();
    expect(memories).toHaveLength(16);
    const whole = looked / 16;
    expect(Number.isInteger(whole) && whole < 10).toBe(true);
  });

  it('reads no more of an action than it may contain', () => {
    const payload = Object.fromEntries(Array.from({ length: 44_000 }, (_, index) => [`k${index}`, index]));
    const entries = vi.spyOn(Object, 'entries');
    const { action, excess } = readModelText(JSON.stringify({ action: { type: 'WAVE', payload } }));
    const walked = entries.mock.calls.length;
    entries.mockRestore();
    expect({ action, excess, walked }).toEqual({
      action: undefined,
      excess: 'The action is larger than 32768 bytes.',
      walked: 0,
    });
  });

  it('finds the object at the end of a very long text', () => {
    expect(readModelText(`${'word '.repeat(200_000)}{"dialogue":"Hi"}`).dialogue).toBe('Hi');
  });
});

describe('any text', () => {
  const members = [
    '"dialogue"',
    '"action"',
    '"stateDelta"',
    '"memories"',
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    "'",
    '\\',
    '```',
    '/*',
    'null',
    '1e999',
    '{"dialogue":"',
    '\ud800',
  ];
  const piece = fc.oneof(fc.constantFrom(...members), fc.string({ unit: 'binary', maxLength: 5 }));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    fc.json().map((json) => `{"dialogue":${json},"action":${json},"memories":${json}}`),
    fc.tuple(fc.json(), fc.nat(200)).map(([json, cut]) => `say {"dialogue":"x","action":${json}`.slice(0, cut)),
  );

  it('is read without error, into a recordable result, deterministically', () => {
    fc.assert(
      fc.property(text, (generated) => {
        const { stateChange: _, ...read } = readModelText(generated);
        const recorded = () => jcs({ ...read, action: read.action ?? null });
        expect(recorded()).toBe(recorded());
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{', 500_000],
    ['{"a', 200_000],
    ['{"a":', 100_000],
    ['[', 500_000],
    ['{"dialogue":"', 50_000],
    ['{"dialogue":"x\n', 50_000],
    ['{}', 300_000],
    ["{'action'", 60_000],
    ['"}{"', 100_000],
    ['{ ', 300_000],
  ])('of %s many times over is read in bounded work', (piece_, times) => {
    expect(readModelText(piece_.repeat(times))).toHaveProperty('dialogue');
  });

  it('may be nested to any depth', () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    expect(readModelText(`{"dialogue":"Hi","action":${deep}}`).dialogue).toBe('Hi');
  });
});
