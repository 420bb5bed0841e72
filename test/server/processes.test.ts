import { describe, expect, it } from 'vitest';

import { type EffectsDeps, allProcesses, processesOf } from '../../src/server/processes.js';

describe('the list of processes', () => {
  it('names no process twice, because the second would replace the first', () => {
    const names = allProcesses.map(({ process }) => process.name);
    expect(names).toEqual([...new Set(names)]);
  });

  it('opens each process with its state machine, under its own name', () => {
    // They read their dependencies when a step runs.
    const opened = processesOf({} as EffectsDeps);
    expect(Object.entries(opened).map(([name, { process }]) => [name, process])).toEqual(
      allProcesses.map(({ process }) => [process.name, process]),
    );
  });
});
