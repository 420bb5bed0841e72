import { describe, expect, it } from 'vitest';

import { sentencesOf } from '../../../src/features/agents/sentences.js';
import { createSpeech } from '../../../src/features/agents/speech.js';

const answer = (dialogue: string): string => `{"dialogue": ${JSON.stringify(dialogue).slice(0, -1)}`;
const sentence = (index: number, text: string) => ({ event: 'dialogue', data: { turnId: 't1', index, text } });
const retracted = (dialogue: string) => ({ event: 'dialogue.retract', data: { turnId: 't1', dialogue } });

describe('sentences', () => {
  it.each([
    ['Good day. How are you?', ['Good day. ', 'How are you?']],
    ['こんにちは。元気ですか？', ['こんにちは。', '元気ですか？']],
    ['', []],
    ['No. '.repeat(300), [...Array<string>(256).fill('No. '), 'No. '.repeat(44)]],
  ])('are together the text: %s [7.4a]', (text, sentences) => {
    expect(sentencesOf(text)).toEqual(sentences);
  });
});

describe('the dialogue of a turn', () => {
  it('is sent whole with the verdict if nothing was sent before [7.4a]', () => {
    const speech = createSpeech('t1');
    expect(speech.decided('Good day. How are you?')).toEqual([sentence(0, 'Good day. '), sentence(1, 'How are you?')]);
  });

  it('is sent while it is written, each sentence once it is complete [7.4c]', () => {
    const speech = createSpeech('t1');
    expect(speech.writing(answer('Good day'))).toEqual([]);
    expect(speech.writing(answer('Good day. How'))).toEqual([sentence(0, 'Good day. ')]);
    expect(speech.writing(answer('Good day. How are'))).toEqual([]);
    expect(speech.decided('Good day. How are you?')).toEqual([sentence(1, 'How are you?')]);
  });

  it('is taken back when the engine begins again, and begins with the first sentence [7.4d]', () => {
    const speech = createSpeech('t1');
    speech.writing(answer('Good day. How'));
    expect(speech.writing('')).toEqual([retracted('')]);
    expect(speech.writing(answer('Be gone. You'))).toEqual([sentence(0, 'Be gone. ')]);
    expect(speech.decided('Be gone. You thief!')).toEqual([sentence(1, 'You thief!')]);
  });

  it('is taken back when the verdict says something else, and only if something was sent [7.4d]', () => {
    const speech = createSpeech('t1');
    expect(speech.withdrawn('')).toEqual([]);
    speech.writing(answer('Here is the crown. Take'));
    expect(speech.decided('Not for sale.')).toEqual([retracted('Not for sale.')]);
    expect(speech.withdrawn('')).toEqual([]);
  });
});
