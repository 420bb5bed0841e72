import type { Terminal } from './terminal.js';

const BAR_CELLS = 30;
/** Milliseconds between two updates of the bar. */
const DRAW_EVERY_MS = 100;

/** A bar such as `[######------]  50%  1,024 of 2,048`. @param label replaces the counts */
export const progressLine = (done: number, total: number, label?: string): string => {
  const share = total <= 0 ? 1 : Math.min(1, done / total);
  const filled = Math.floor(share * BAR_CELLS);
  const percent = String(Math.floor(share * 100)).padStart(3);
  const counts = label ?? `${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_CELLS - filled)}] ${percent}%  ${counts}`;
};

export type ProgressBar = { update(done: number, total: number, label?: string): void; end(): void };

/** Draws progress on one line of stderr. Draws nothing unless stderr is a terminal. */
export const progressBar = ({ stderr }: Terminal, now: () => number = () => performance.now()): ProgressBar => {
  let drawnAt = -Infinity;
  let drawn = false;
  const shown = stderr.isTTY === true;
  const draw = (line: string): void => {
    stderr.write(`\r${line}\u001b[K`);
    drawn = true;
  };
  return {
    update(done, total, label) {
      if (!shown || (done < total && now() - drawnAt < DRAW_EVERY_MS)) return;
      drawnAt = now();
      draw(progressLine(done, total, label));
    },
    end() {
      if (drawn) stderr.write('\n');
    },
  };
};
