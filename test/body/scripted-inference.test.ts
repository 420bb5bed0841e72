import { describe, expect, it } from 'vitest';
import { createScriptedInference } from '../../src/body/scripted-inference.js';

const ask = (prompt: string, observation?: string) => ({
  prompt,
  constraints: {},
  ...(observation === undefined ? {} : { observation }),
});

describe('the scripted model', () => {
  it('gives the answers of the first entry that matches, one after the other, then the last again', async () => {
    const model = createScriptedInference([
      { when: /^open/i, answers: ['No.', 'Still no.'] },
      { when: 'gate', answers: ['What of it?'] },
    ]);
    expect(await model.complete(ask('Open the gate'))).toBe('No.');
    expect(await model.complete(ask('open the gate'))).toBe('Still no.');
    expect(await model.complete(ask('open!'))).toBe('Still no.');
    expect(await model.complete(ask('The gate?'))).toBe('What of it?');
  });

  it('goes by the observation where there is one: an earlier line in the prompt does not count', async () => {
    const model = createScriptedInference([{ when: 'first line', answers: ['one'] }], 'nothing');
    expect(await model.complete(ask('Remembered: first line.', 'second line'))).toBe('nothing');
  });

  it('refuses when its caller has given up', async () => {
    const call = createScriptedInference([]).complete({ ...ask('x'), signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ failure: 'aborted' });
  });
});
