import { describe, expect, it } from 'vitest';

import { createEngines } from '../../../src/features/engines/engines.js';
import { chooseGhostEngine } from '../../../src/features/ghosts/ghost-engine.js';
import { fakeCortex } from '../../support/fake-cortex.js';

const silent = fakeCortex(() => Promise.resolve(''));
const scripted = { ...silent.engine, id: 'scripted', name: 'Scripted' };
const openai = { ...silent.engine, id: 'openai', name: 'llama3.1:8b' };
const enginesOf = (chosen: string | null) => createEngines([scripted, openai], openai, () => chosen);
const choose = (requested?: string, chosen: string | null = null): string | undefined =>
  chooseGhostEngine(enginesOf(chosen), 'studio', requested);

describe('the engine of a ghost', () => {
  it('is the one with the given name or model, and the policy when none is named [9.8m, 9.8n]', () => {
    expect(['openai', 'llama3.1:8b', 'scripted', 'Scripted', undefined].map((name) => choose(name))).toEqual([
      ...['openai', 'openai', undefined, undefined, undefined],
    ]);
  });

  it('is the default of the tenant when requested [9.8m]', () => {
    expect(['', 'api-integrated'].map((name) => choose(name))).toEqual(['openai', 'openai']);
    expect(choose('api-integrated', 'scripted')).toBeUndefined();
  });

  it('is accepted while it is down [9.8o]', () => {
    const away = { ...openai, id: 'away', name: 'Away', state: () => 'unreachable', down: () => 'unreachable' };
    const engines = createEngines([scripted, away] as never, away, () => null);
    expect(['away', '', undefined].map((name) => chooseGhostEngine(engines, 'studio', name))).toEqual([
      ...['away', 'away', undefined],
    ]);
  });

  it('is refused when it does not exist [9.8o]', () => {
    expect(() => choose('gpt-9')).toThrow(expect.objectContaining({ code: 'CORTEX_NOT_FOUND' }) as Error);
    expect(() => choose('', 'llama')).toThrow(expect.objectContaining({ code: 'CORTEX_UNAVAILABLE' }) as Error);
  });
});
