import { describe, expect, it } from 'vitest';
import { createScriptedInference } from '../../src/body/scripted-inference.js';

const ask = (prompt: string, observation?: string) => ({
  prompt,
  constraints: {},
  ...(observation === undefined ? {} : { observation }),
});

describe('the scripted model', () => {
  it('returns the answers of the first matching entry in order, and then repeats the last', async () => {
    const model = createScriptedInference([
      { when: /^open/i, answers: ['No.', 'Still no.'] },
      { when: 'gate', answers: ['What of it?'] },
    ]);
    expect(await model.complete(ask('Open the gate'))).toBe('No.');
    expect(await model.complete(ask('open the gate'))).toBe('Still no.');
    expect(await model.complete(ask('open!'))).toBe('Still no.');
    expect(await model.complete(ask('The gate?'))).toBe('What of it?');
  });

  it('matches the observation if there is one, and ignores earlier lines of the prompt', async () => {
    const model = createScriptedInference([{ when: 'first line', answers: ['one'] }], 'nothing');
    expect(await model.complete(ask('Remembered: first line.', 'second line'))).toBe('nothing');
  });

  it('refuses when its caller has cancelled', async () => {
    const call = createScriptedInference([]).complete({ ...ask('x'), signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ failure: 'aborted' });
  });
});
