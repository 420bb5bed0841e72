import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { allProcesses } from '../../src/server/processes.js';
import { drawMachines } from '../../scripts/machine-diagram.js';
import { turn } from '../../workflows/turn/turn.js';

const states = Object.keys(turn.transitions);
const transitions = Object.entries(turn.transitions).flatMap(([state, row]) =>
  Object.entries(row).map(([input, transition]) => ({ state, input, transition })),
);

describe('docs/reference/state-machines.md', () => {
  it('is the output of "npm run generate"', () => {
    expect(readFileSync(join(import.meta.dirname, '../../docs/reference/state-machines.md'), 'utf8')).toBe(
      drawMachines(allProcesses.map(({ process }) => process)),
    );
  });

  it('shows every state with a field for every input', () => {
    const lines = drawMachines([turn]).split('\n');
    for (const state of states) {
      const row = lines.find((line) => line.startsWith(`| **${state}** |`));
      expect(row?.split('|').length).toBe(Object.keys(turn.transitions.new).length + 3);
    }
  });

  it('draws an arrow for every transition and for nothing else', () => {
    const arrows = drawMachines([turn])
      .split('\n')
      .filter((line) => / --> \w+: /.test(line))
      .map((line) => line.trim());
    const declared = transitions.flatMap(({ state, input, transition }) =>
      typeof transition === 'object' && 'to' in transition
        ? transition.to.map((to) => `${state} --> ${to}: ${input}`)
        : [],
    );
    expect(arrows).toEqual(declared);
  });
});

describe('the table of a turn', () => {
  it('has the same inputs in every state', () => {
    const inputs = Object.keys(turn.transitions.new);
    for (const row of Object.values(turn.transitions)) expect(Object.keys(row)).toEqual(inputs);
  });

  it.each(transitions)('leads from $state by $input to known states', ({ transition }) => {
    const to = typeof transition === 'object' && 'to' in transition ? transition.to : [];
    expect(states).toEqual(expect.arrayContaining([...to]));
  });

  it('reaches every state from the first one, except the one that only the turns of agents have', () => {
    const reached = new Set<string>([turn.initial.name]);
    for (const state of reached) {
      for (const { transition } of transitions.filter((it) => it.state === state)) {
        if (typeof transition === 'object' && 'to' in transition) for (const to of transition.to) reached.add(to);
      }
    }
    expect([...reached].sort()).toEqual(states.filter((state) => state !== 'failed').sort());
  });
});
