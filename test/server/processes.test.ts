import { describe, expect, it } from 'vitest';

import { type EffectsDeps, allProcesses, processesOf } from '../../src/server/processes.js';

describe('the list of processes', () => {
  it('names no process twice: the second one would take the place of the first', () => {
    const names = allProcesses.map(({ process }) => process.name);
    expect(names).toEqual([...new Set(names)]);
  });

  it('opens each process with its state machine, under its own name', () => {
    // They take what they need when a step runs.
    const opened = processesOf({} as EffectsDeps);
    expect(Object.entries(opened).map(([name, { process }]) => [name, process])).toEqual(
      allProcesses.map(({ process }) => [process.name, process]),
    );
  });
});
