import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createSentences, sentencesOf } from '../../../src/features/agents/sentences.js';
import { createReading, createSpeech } from '../../../src/features/agents/speech.js';
import { readModelText } from '../../../src/features/turns/domain/decision/model-text.js';
import { cutText } from '../../../src/kernel/base/text.js';

const answer = (dialogue: string): string => `{"dialogue": ${JSON.stringify(dialogue).slice(0, -1)}`;
/** The speech of one request, which hears all that an engine writes. */
const speaking = () => {
  const speech = createSpeech('t1');
  const read = createReading('t1');
  return { ...speech, writing: (output: string) => speech.writing(read(output)) };
};
const sentence = (index: number, text: string) => ({ event: 'dialogue', data: { turnId: 't1', index, text } });
const retracted = (dialogue: string) => ({ event: 'dialogue.retract', data: { turnId: 't1', dialogue } });

describe('sentences', () => {
  it.each([
    ['Good day. How are you?', ['Good day. ', 'How are you?']],
    ['こんにちは。元気ですか？', ['こんにちは。', '元気ですか？']],
    ['Good day.\n\nHow are you?\n', ['Good day.\n\n', 'How are you?\n']],
    ['', []],
    ['No. '.repeat(300), [...Array<string>(256).fill('No. '), 'No. '.repeat(44)]],
  ])('are together the text: %s [7.4a]', (text, sentences) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });

  it('are counted with those before them [7.4a]', () => {
    expect(sentencesOf('One. Two. Three.', 254)).toEqual(['One. ', 'Two. ', 'Three.']);
    expect(sentencesOf('One. Two. Three.', 255)).toEqual(['One. ', 'Two. Three.']);
    expect(sentencesOf('One. Two. Three.', 256)).toEqual(['One. Two. Three.']);
  });

  it('are found once for all who need those of the same text', () => {
    const sentences = createSentences();
    const first = sentences('One. Two.', 0);
    expect(first).toEqual(['One. ', 'Two.']);
    expect(sentences('One. Two.', 0)).toBe(first);
    expect(sentences('One. Two.', 255)).toEqual(['One. ', 'Two.']);
    for (let other = 0; other < 16; other += 1) sentences(String(other), 0);
    expect(sentences('One. Two.', 0)).not.toBe(first);
  });
});

describe('the dialogue of a turn', () => {
  it('is sent whole with the verdict if nothing was sent before [7.4a]', () => {
    const speech = speaking();
    expect(speech.decided('Good day. How are you?')).toEqual([sentence(0, 'Good day. '), sentence(1, 'How are you?')]);
  });

  it('is sent while it is written, each sentence once it is complete [7.4c]', () => {
    const speech = speaking();
    expect(speech.writing(answer('Good day'))).toEqual([]);
    expect(speech.writing(answer('Good day. How'))).toEqual([sentence(0, 'Good day. ')]);
    expect(speech.writing(answer('Good day. How are'))).toEqual([]);
    expect(speech.decided('Good day. How are you?')).toEqual([sentence(1, 'How are you?')]);
  });

  it('is taken back when the engine begins again, and begins with the first sentence [7.4d]', () => {
    const speech = speaking();
    speech.writing(answer('Good day. How'));
    expect(speech.writing('')).toEqual([retracted('')]);
    expect(speech.writing(answer('Be gone. You'))).toEqual([sentence(0, 'Be gone. ')]);
    expect(speech.decided('Be gone. You thief!')).toEqual([sentence(1, 'You thief!')]);
  });

  it('is taken back when the verdict says something else, and only if something was sent [7.4d]', () => {
    const speech = speaking();
    expect(speech.withdrawn('')).toEqual([]);
    speech.writing(answer('Here is the crown. Take'));
    expect(speech.decided('Not for sale.')).toEqual([retracted('Not for sale.')]);
    expect(speech.withdrawn('')).toEqual([]);
  });

  it('is taken back if another attempt begins the same way but goes on differently, even if nothing was read between [7.4d]', () => {
    const speech = createSpeech('t1');
    speech.writing(createReading('t1')(answer('One. Two. Thr')));
    expect(speech.writing(createReading('t1')(answer('One. Three. Fo')))).toEqual([
      retracted(''),
      sentence(0, 'One. '),
      sentence(1, 'Three. '),
    ]);
  });

  const marks = ['<think>He lies. He must not know.</think>', '<think\nkind="a">He lies. No.</think>', '<|im_end|>'];
  const pieces = [
    'Good day. ',
    'How are you? ',
    'No',
    '\n',
    ' ',
    '"',
    '[He nods. He sighs.] ',
    '### Response:',
    ...marks,
  ];
  it('is never taken back for its marks or its white space, wherever it is read [7.4c]', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), fc.array(fc.nat(300)), (parts, ends) => {
        const output = JSON.stringify({ action: 'NOD', dialogue: parts.join('') });
        const speech = speaking();
        const events = [...ends, 300]
          .sort((one, other) => one - other)
          .flatMap((end) => speech.writing(output.slice(0, end)));
        const said = readModelText(output).dialogue;
        const all = [...events, ...speech.decided(said)];
        expect(all.every(({ event }) => event === 'dialogue')).toBe(true);
        expect(all.map(({ data }) => ('text' in data ? data.text : '')).join('')).toBe(said);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is sent early as far as no verdict cuts it off [7.4c]', () => {
    const dialogue = 'Good day to you. '.repeat(200);
    const speech = speaking();
    const sent = speech.writing(answer(dialogue)).map(({ data }) => ('text' in data ? data.text : ''));
    const cut = cutText(dialogue, 2_000);
    expect(sent).toHaveLength(117);
    expect(speech.decided(cut)).toEqual([sentence(117, cut.slice(sent.join('').length))]);
  });
});
