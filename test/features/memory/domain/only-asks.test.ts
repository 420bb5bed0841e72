import { describe, expect, it } from 'vitest';

import { onlyAsks } from '../../../../src/features/memory/domain/only-asks.js';

const asks = (text: string, type = 'observation') => onlyAsks({ type, text });

describe('an input that only asks', () => {
  it.each([
    'What is my name?',
    'Where are the savings, Berta??',
    'And what, pray, is my name?',
    '“Who goes there?”',
    '你叫什么名字？',
    'ما اسمك؟ ',
    'نام من چیست؟',
    'Come si chiama l’ex-oste?',
    '¿Dónde está «El Gato»?',
    '\n(Can you help me?)\n',
    'Is this it - the savings/ledger (of Berta)?',
    'Tell me about the bridge.',
    'Please tell me where my silver is',
  ])('is one question: %s [3.8c]', (text) => {
    expect(asks(text)).toBe(true);
  });

  it.each([
    'My name is Kestrel. What is yours?',
    'My name is Kestrel.',
    'My name is Anna, can you help me?',
    'I lost my ring; have you seen it?',
    '我叫安娜，你能帮我吗？',
    'My name is Anna - can you help me?',
    'My name is Anna-- can you help me?',
    'My name is Anna\nCan you help me?',
    'My name is Anna\u2028can you help me?',
    'Will\nis my name, can you help me?',
    'My name is Anna / can you help me?',
    'My name is Anna (from Rowan) can you help me?',
    '我叫安娜（罗文人）你能帮我吗？',
    'I am Anna [of Rowan] can you help me?',
    'My name is Anna… can you help me?',
    'मेरा नाम अन्ना है। क्या आप मदद करेंगे?',
    'Is it raining? It is.',
    'Tell me, Berta, my name is Anna.',
    'Tell me about the bridge. I am Anna.',
    'Remind me that the ferry leaves at noon.',
    'Run! Why do you stand there?',
    '',
  ])('does not also state something: %s [3.8c]', (text) => {
    expect(asks(text)).toBe(false);
  });

  it('is an observation: a memory of another type was stored deliberately [3.8c]', () => {
    expect(asks('Who killed the duke?', 'knowledge')).toBe(false);
  });

  it('is recognised quickly in a text of any length', () => {
    expect(asks(`${'a'.repeat(100_000)}?`)).toBe(true);
    expect(asks(`${'a?'.repeat(50_000)}b`)).toBe(false);
    expect(asks(`${' \n('.repeat(50_000)}b`)).toBe(false);
    expect(asks(`${'-'.repeat(100_000)}?${')'.repeat(100_000)}b`)).toBe(false);
  });
});
