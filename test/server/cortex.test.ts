import { describe, expect, it } from 'vitest';

import { cortexDependency } from '../../src/server/cortex.js';
import { fakeCortex } from '../support/fake-cortex.js';

const dependencyOf = (state: string, problem: string | null) => {
  const fake = fakeCortex(() => Promise.resolve('Yes.'));
  fake.set(state);
  const standard = { ...fake.engine, problem: () => problem };
  return cortexDependency({ all: [standard], standard, [Symbol.asyncDispose]: () => Promise.resolve() });
};

describe('the engine in GET /readyz', () => {
  it('shows its state, or why a prompt got no text [6.9a, 6.9b]', () => {
    expect(dependencyOf('ready', null)).toEqual({ cortex: { ok: true, needed: false } });
    expect(dependencyOf('It is down.', 'An older reason.')).toEqual({
      cortex: { ok: false, detail: 'It is down.', needed: false },
    });
    expect(dependencyOf('ready', 'Its filter stopped it.')).toEqual({
      cortex: { ok: true, detail: 'Its filter stopped it.', needed: false },
    });
  });
});
