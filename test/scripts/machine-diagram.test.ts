import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { allProcesses } from '../../src/server/processes.js';
import { drawMachines } from '../../scripts/machine-diagram.js';
import { turn } from '../../workflows/turn/turn.js';

const states = Object.keys(turn.table);
const cells = Object.entries(turn.table).flatMap(([state, row]) =>
  Object.entries(row).map(([input, cell]) => ({ state, input, cell })),
);

describe('docs/machines.md', () => {
  it('is what the tables say; "npm run generate" draws it anew', () => {
    expect(readFileSync(join(import.meta.dirname, '../../docs/machines.md'), 'utf8')).toBe(
      drawMachines(allProcesses.map(({ process }) => process)),
    );
  });

  it('shows every state with a field for every input', () => {
    const lines = drawMachines([turn]).split('\n');
    for (const state of states) {
      const row = lines.find((line) => line.startsWith(`| **${state}** |`));
      expect(row?.split('|').length).toBe(Object.keys(turn.table.new).length + 3);
    }
  });

  it('draws an arrow for every transition and for nothing else', () => {
    const arrows = drawMachines([turn])
      .split('\n')
      .filter((line) => / --> \w+: /.test(line))
      .map((line) => line.trim());
    const declared = cells.flatMap(({ state, input, cell }) =>
      typeof cell === 'object' && 'to' in cell ? cell.to.map((to) => `${state} --> ${to}: ${input}`) : [],
    );
    expect(arrows).toEqual(declared);
  });
});

describe('the table of a turn', () => {
  it('has the same inputs in every state', () => {
    const inputs = Object.keys(turn.table.new);
    for (const row of Object.values(turn.table)) expect(Object.keys(row)).toEqual(inputs);
  });

  it.each(cells)('leads from $state by $input to known states', ({ cell }) => {
    const to = typeof cell === 'object' && 'to' in cell ? cell.to : [];
    expect(states).toEqual(expect.arrayContaining([...to]));
  });

  it('reaches every state from the first one', () => {
    const reached = new Set<string>([turn.initial.name]);
    for (const state of reached) {
      for (const { cell } of cells.filter((it) => it.state === state)) {
        if (typeof cell === 'object' && 'to' in cell) for (const to of cell.to) reached.add(to);
      }
    }
    expect([...reached].sort()).toEqual([...states].sort());
  });
});
