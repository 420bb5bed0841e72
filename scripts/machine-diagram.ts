import type { AnyProcess, Cell } from '../workflows/process.js';

type AnyCell = Cell<unknown, unknown, unknown>;
type StateRow = readonly [state: string, cells: readonly (readonly [input: string, cell: AnyCell])[]];

const rowsOf = ({ table }: AnyProcess): readonly StateRow[] =>
  Object.entries(table as Record<string, Record<string, AnyCell>>).map(([state, row]) => [state, Object.entries(row)]);

const targets = (cell: AnyCell): readonly string[] => (typeof cell === 'object' && 'to' in cell ? cell.to : []);

/** What a cell does, in one table field. */
const describe = (cell: AnyCell): string => {
  if (cell === 'ignore') return '·';
  if ('reject' in cell) return `refused: ${cell.reject}`;
  return `${cell.emit.name} → ${cell.to.join(' or ')}`;
};

/** A state that no input leads out of. */
const isLast = ([state, cells]: StateRow): boolean =>
  cells.every(([, cell]) => targets(cell).every((to) => to === state));

const diagram = (process: AnyProcess): readonly string[] => {
  const rows = rowsOf(process);
  const { name } = process.initial as { readonly name: string };
  return [
    '```mermaid',
    'stateDiagram-v2',
    `  [*] --> ${name}`,
    ...rows.flatMap(([state, cells]) =>
      cells.flatMap(([input, cell]) => targets(cell).map((to) => `  ${state} --> ${to}: ${input}`)),
    ),
    ...rows.filter(isLast).map(([state]) => `  ${state} --> [*]`),
    '```',
  ];
};

const cellTable = (process: AnyProcess): readonly string[] => {
  const rows = rowsOf(process);
  const inputs = rows[0]?.[1].map(([input]) => input) ?? [];
  const line = (fields: readonly string[]): string => `| ${fields.join(' | ')} |`;
  return [
    line(['state', ...inputs]),
    line(['---', ...inputs.map(() => '---')]),
    ...rows.map(([state, cells]) => line([`**${state}**`, ...cells.map(([, cell]) => describe(cell))])),
  ];
};

const section = (process: AnyProcess): readonly string[] => [
  `## ${process.name}`,
  '',
  ...diagram(process),
  '',
  ...cellTable(process),
  '',
];

/** `docs/machines.md`: each of these processes as a Mermaid diagram and as the table of all its cells, in Markdown. */
export const drawMachines = (processes: readonly AnyProcess[]): string =>
  [
    '# State machines',
    '',
    '<!-- Drawn from the tables in workflows/ by `npm run generate`; a test fails when it is stale. -->',
    '',
    'Every process that spans time is a table of every state and every input. A field of a table below says what an input does in a state.',
    '`·` means nothing: the answer comes from the record. `refused` is a refusal with its code. Anything else is the name of the function',
    'that makes the events, and the state or states to which they lead.',
    '',
    ...processes.flatMap(section),
  ].join('\n');
