import { describe, expect, it } from 'vitest';

import { readAction } from '../../../../../src/features/rules/domain/bridge/action.js';
import {
  findObject,
  LOOKS,
  LOOKS_PER_OBJECT,
  SEARCHED_BRACES,
  SEARCHED_CHARS,
} from '../../../../../src/features/turns/domain/decision/find-object.js';
import { REPAIRED_CHARS } from '../../../../../src/kernel/model-text/whole-answers.js';
import { STOPS } from '../../../../../src/kernel/model-text/special-tokens.js';
import { readModelTextBefore3 } from '../../../../../src/features/turns/domain/decision/model-text-1.js';
import { readModelText3 } from '../../../../../src/features/turns/domain/decision/model-text-3.js';
import { readModelText } from '../../../../../src/features/turns/domain/decision/model-text.js';
import { formats } from '../../../../../src/features/turns/domain/decision/templates.js';
import types from '../../../../fixtures/action-types.json' with { type: 'json' };
import textsBefore3 from '../../../../fixtures/model-texts-1.json' with { type: 'json' };
import texts3 from '../../../../fixtures/model-texts-3.json' with { type: 'json' };
import texts from '../../../../fixtures/model-texts.json' with { type: 'json' };

const unnamed = { action: undefined, excess: null, stateChange: undefined, memories: [], structured: true };

describe('the output of a weak model', () => {
  // The expected result of each text was written by hand from the promises; members that are not named are absent.
  it.each(texts)(
    'is read correctly: $what [2.8r, 2.8s, 2.8aa, 2.8ab, 2.8ac, 2.8ad, 2.8ae, 2.8af, 2.8ag, 2.8ah]',
    ({ text, reads }) => {
      expect(readModelText(text)).toEqual({ ...unnamed, ...reads });
    },
  );

  const read3 = new Map(texts3.map(({ text, reads }) => [text, reads]));
  it.each([...texts.filter(({ text }) => !read3.has(text)), ...texts3])(
    'is read by the third logic as ever: $what',
    ({ text, reads }) => {
      expect(readModelText3(text)).toEqual({ ...unnamed, ...reads });
    },
  );

  it.each(textsBefore3)('is read by the first two logics as ever: $what', ({ text, reads }) => {
    expect(readModelTextBefore3(text)).toEqual({ ...unnamed, ...reads });
  });

  it('is not spoken if it is a page or an error [2.8al]', () => {
    for (const text of ['<html lang="en">Bad gateway</html>', '{"error": "Upstream"}'])
      expect(readModelText(text)).toEqual({ ...unnamed, dialogue: '', structured: false });
  });

  it('calls only what the rules declare, if they declare actions', () => {
    const text = 'Hi.<tool_call>{"name":"attack"}</tool_call><tool_call>{"name":"wave"}</tool_call>';
    expect(readModelText(text, new Set(['WAVE'])).action).toEqual({ type: 'WAVE' });
    expect(readModelText(text, new Set(['NOD'])).action).toBeUndefined();
  });

  it.each(types)('has its action type read or refused: $written [2.8u]', ({ written, type }) => {
    const read = readAction(written);
    expect(read.ok ? read.action.type : read.code).toBe(type ?? 'ACTION_TYPE_INVALID');
  });
});

describe('a chat token of a template', () => {
  const tokens = Object.values(formats).flatMap(({ stop }) => stop);

  it.each(tokens)('%s ends the text [2.8t]', (token) => {
    expect(readModelText(`Aye.${token}Nay.`).dialogue).toBe('Aye.');
  });

  it.each(Object.entries(formats))(
    'of %s is in stop, which has no more entries than servers accept [2.8t]',
    (name, format) => {
      const stop = STOPS[name as keyof typeof STOPS];
      const rest = stop.reduce((left, token) => left.replaceAll(token, ''), format.format('', ''));
      expect(rest).not.toMatch(/<\||###/);
      expect(stop.length).toBeLessThanOrEqual(4);
      // What a server stops at must be what the reading stops at.
      for (const token of stop) expect(readModelText(`Aye.${token}Nay.`).dialogue).toBe('Aye.');
    },
  );
});

describe('the work of reading', () => {
  const pieces = [
    '{',
    '{}',
    '{a:{',
    '[{"a":',
    '"',
    "'",
    '{"a',
    '{"',
    '{ ',
    '{"a":"',
    '"}{"',
    "{'action'",
    '{"action":"x"',
    '{"action":1},',
    '{"action":x}',
    '“{',
    '\\"{',
  ];

  // One last reading of an end may begin below the bound.
  const bound = LOOKS + 2 * (2 * SEARCHED_CHARS + 2 * SEARCHED_BRACES * LOOKS_PER_OBJECT);

  it.each(pieces)('is bounded for any number of repetitions of %j', (piece) => {
    for (const times of [2_000, 20_000, 200_000, 1_000_000]) {
      expect(findObject(piece.repeat(times)).looked).toBeLessThanOrEqual(bound);
    }
  });

  it.each(['{"a":', '{', '{} '])(
    'is enough to find the answer after or before a hundred thousand repetitions of %j',
    (piece) => {
      const text = piece.repeat(100_000);
      expect(findObject(`${text}{"dialogue":"Hi"}`).object).toEqual({ dialogue: 'Hi' });
      expect(findObject(`{"dialogue":"Hi"} ${text}`).object).toEqual({ dialogue: 'Hi' });
    },
  );

  it('is not spent on repairing a text that is too long for an answer', () => {
    const broken = (chars: number) => `So: {dialogue: "Hi", more: "${'x'.repeat(chars)}"}`;
    expect(findObject(broken(REPAIRED_CHARS - 100)).object).toHaveProperty('dialogue', 'Hi');
    expect(findObject(broken(REPAIRED_CHARS)).object).toBeNull();
  });
});
