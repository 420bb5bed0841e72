import type { Spread } from './rounds.js';

/** The goal of a figure. */
export type Goal = { readonly text: string; readonly met: boolean };

/** One line of the report; every figure is next to its reference. */
export type Figure = {
  readonly what: string;
  readonly ours: string;
  readonly reference: string;
  /** The product's figure divided by the reference, over the rounds. */
  readonly ratio: Spread;
  readonly goal: Goal | null;
};

export type PartReport = {
  readonly figures: readonly Figure[];
  /** What a reader must know to trust the figures; sentences. */
  readonly remarks: readonly string[];
};

/** The page, in docs/explanation/performance, that holds the measured block of each benchmark. */
export const pages = {
  embedded: 'index.md',
  inputs: 'largest-inputs.md',
  memory: 'memory.md',
  souls: 'souls-ghosts-replays.md',
  ghosts: 'souls-ghosts-replays.md',
  replays: 'souls-ghosts-replays.md',
  distributed: 'distributed.md',
} as const;

export type Block = keyof typeof pages;

const thousands = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** A rate as an integer, e.g. `8,123`. */
export const whole = (value: number): string => thousands.format(value);

/** Milliseconds, with as many decimals as are significant. */
export const milliseconds = (value: number): string => `${value < 100 ? value.toFixed(1) : whole(value)} ms`;

/** Bytes in binary megabytes. */
export const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;

/** How much a heap may grow with each request, in bytes: less than a leaked listener or closure. */
const HEAP_GOAL = 50;

/** The heap of a process after this many requests, against its heap after a tenth of them; in bytes. */
export const heapFigure = (
  what: string,
  count: number,
  heap: { readonly early: number; readonly late: number },
): Figure => {
  const ratio = heap.late / heap.early;
  return {
    what: `heap after ${whole(count)} ${what}`,
    ours: mebibytes(heap.late),
    reference: `after ${whole(count / 10)}: ${mebibytes(heap.early)}`,
    ratio: { median: ratio, min: ratio, max: ratio },
    goal: { text: `≤ ${HEAP_GOAL} bytes each`, met: (heap.late - heap.early) / (0.9 * count) <= HEAP_GOAL },
  };
};

/** A share (0..1) as a percentage. */
export const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

const ratioText = ({ median, min, max }: Spread): string =>
  `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;

const goalText = (goal: Goal | null): string =>
  goal === null ? '' : `${goal.text}: ${goal.met ? 'met' : '**missed**'}`;

/** Columns of equal width, as this repository's formatter lays them out. */
export const table = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths = rows.reduce<readonly number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 3)),
    [],
  );
  const line = (cells: readonly string[], fill: string): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [
    line(head, ' '),
    line(
      head.map(() => '-'),
      '-',
    ),
    ...body.map((row) => line(row, ' ')),
  ];
};

/**
 * A measured block of a page, in Markdown.
 * @param machine lines that describe the machine
 */
export const report = (machine: readonly string[], parts: readonly PartReport[]): string => {
  const rows = parts.flatMap(({ figures }) =>
    figures.map(({ what, ours, reference, ratio, goal }) => [what, ours, reference, ratioText(ratio), goalText(goal)]),
  );
  const bullets = (lines: readonly string[]): readonly string[] => lines.map((line) => `- ${line}`);
  return [
    ...bullets(machine),
    '',
    ...table([['what', 'ours', 'reference', 'ratio: median (range)', 'goal'], ...rows]),
    '',
    ...bullets(parts.flatMap(({ remarks }) => remarks)),
  ].join('\n');
};

/**
 * A page with one of its measured blocks replaced.
 * @throws Error if the page has no such block
 */
export const withMeasured = (page: string, block: Block, text: string): string => {
  const marks = [`<!-- measured: ${block} -->`, `<!-- /measured: ${block} -->`] as const;
  const begin = page.indexOf(marks[0]);
  const end = page.indexOf(marks[1]);
  if (begin < 0 || end < begin) throw new Error(`the page has no block between ${marks[0]} and ${marks[1]}`);
  return `${page.slice(0, begin + marks[0].length)}\n\n${text}\n\n${page.slice(end)}`;
};
