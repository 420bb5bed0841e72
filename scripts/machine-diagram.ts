import type { AnyStateMachine, Transition } from '../src/kernel/processes/state-machine.js';

type AnyTransition = Transition<unknown, unknown, unknown>;
type StateRow = readonly [state: string, transitions: readonly (readonly [input: string, transition: AnyTransition])[]];

const rowsOf = ({ transitions }: AnyStateMachine): readonly StateRow[] =>
  Object.entries(transitions as Record<string, Record<string, AnyTransition>>).map(([state, row]) => [
    state,
    Object.entries(row),
  ]);

const targets = (transition: AnyTransition): readonly string[] =>
  typeof transition === 'object' && 'to' in transition ? transition.to : [];

/** What a transition does, in one table field. */
const describe = (transition: AnyTransition): string => {
  if (transition === 'ignore') return '·';
  if ('reject' in transition) return `refused: ${transition.reject}`;
  return `${transition.emit.name} → ${transition.to.join(' or ')}`;
};

/** A state that no input leads out of. */
const isLast = ([state, transitions]: StateRow): boolean =>
  transitions.every(([, transition]) => targets(transition).every((to) => to === state));

const diagram = (process: AnyStateMachine): readonly string[] => {
  const rows = rowsOf(process);
  const { name } = process.initial as { readonly name: string };
  return [
    '```mermaid',
    'stateDiagram-v2',
    `  [*] --> ${name}`,
    ...rows.flatMap(([state, transitions]) =>
      transitions.flatMap(([input, transition]) => targets(transition).map((to) => `  ${state} --> ${to}: ${input}`)),
    ),
    ...rows.filter(isLast).map(([state]) => `  ${state} --> [*]`),
    '```',
  ];
};

const cellTable = (process: AnyStateMachine): readonly string[] => {
  const rows = rowsOf(process);
  const inputs = rows[0]?.[1].map(([input]) => input) ?? [];
  const line = (fields: readonly string[]): string => `| ${fields.join(' | ')} |`;
  return [
    line(['state', ...inputs]),
    line(['---', ...inputs.map(() => '---')]),
    ...rows.map(([state, transitions]) =>
      line([`**${state}**`, ...transitions.map(([, transition]) => describe(transition))]),
    ),
  ];
};

const section = (process: AnyStateMachine): readonly string[] => [
  `## ${process.name}`,
  '',
  ...diagram(process),
  '',
  ...cellTable(process),
  '',
];

/** `docs/machines.md`: each of these processes as a Mermaid diagram and as the table of all its transitions, in Markdown. */
export const drawMachines = (processes: readonly AnyStateMachine[]): string =>
  [
    '# State machines',
    '',
    '<!-- Drawn from the state machines in workflows/ by `npm run generate`; a test fails when it is stale. -->',
    '',
    'Every process that spans time is a state machine. A field of a table below says what an input does in a state.',
    '`·` means nothing: the answer comes from the record. `refused` is a refusal with its code. Anything else is the name of the function',
    'that makes the events, and the state or states to which they lead.',
    '',
    ...processes.flatMap(section),
  ].join('\n');
