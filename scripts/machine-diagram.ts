import { GENERATED, markdownTable } from './markdown.js';
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

/** The effect of a transition, in one table field. */
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
  return markdownTable(
    ['state', ...inputs],
    rows.map(([state, transitions]) => [`**${state}**`, ...transitions.map(([, transition]) => describe(transition))]),
  );
};

const section = (process: AnyStateMachine): readonly string[] => [
  `## ${process.name}`,
  '',
  ...diagram(process),
  '',
  ...cellTable(process),
  '',
];

/** `docs/reference/state-machines.md`: each of these processes as a Mermaid diagram and as the table of all its transitions, in Markdown. */
export const drawMachines = (processes: readonly AnyStateMachine[]): string =>
  [
    '# State machines',
    '',
    GENERATED,
    '',
    'Each durable process of the server is a state machine. Its diagram shows the transitions, and its table shows what every input does in every state.',
    '',
    '`·` means that the input changes nothing: the response comes from the recorded events. `refused` names the error code.',
    'Every other field names the function that makes the events, and the states to which they can lead.',
    '',
    ...processes.flatMap(section),
  ].join('\n');
