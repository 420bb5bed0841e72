import { describe, expect, it } from 'vitest';

import { onlyAsks } from '../../../src/domain/memory/only-asks.js';

const asks = (text: string, type = 'observation') => onlyAsks({ type, text });

describe('What only asks', () => {
  it.each([
    'What is my name?',
    'Where are the savings, Berta??',
    'And what, pray, is my name?',
    '“Who goes there?”',
    '你叫什么名字？',
    'ما اسمك؟ ',
  ])('is one question: %s', (text) => {
    expect(asks(text)).toBe(true);
  });

  it.each([
    'My name is Kestrel. What is yours?',
    'My name is Kestrel.',
    'My name is Anna, can you help me?',
    'I lost my ring; have you seen it?',
    '我叫安娜，你能帮我吗？',
    'Is it raining? It is.',
    'Run! Why do you stand there?',
    '',
  ])('is nothing that also tells something: %s', (text) => {
    expect(asks(text)).toBe(false);
  });

  it('is an observation: what was stored as another type was stored on purpose', () => {
    expect(asks('Who killed the duke?', 'knowledge')).toBe(false);
  });

  it('is found out in no time in a text of any length', () => {
    expect(asks(`${'a'.repeat(100_000)}?`)).toBe(true);
    expect(asks(`${'a?'.repeat(50_000)}b`)).toBe(false);
  });
});
