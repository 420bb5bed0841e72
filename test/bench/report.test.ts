import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { type Figure, pages, report, withMeasured } from '../../bench/report.js';

const figure: Figure = {
  what: 'POST',
  ours: '1/s',
  reference: 'echo: 2/s',
  ratio: { median: 0.5, min: 0.4, max: 0.6 },
  goal: { text: '≥ 0.5', met: true },
};

describe('the report of a measurement', () => {
  it('has a line for each figure, with its reference, its ratio and whether its goal is met', () => {
    const missed: Figure = { ...figure, what: 'turns', goal: { text: '≥ 9', met: false } };
    const text = report(
      ['Node'],
      [{ figures: [figure, missed, { ...figure, what: 'p50', goal: null }], remarks: ['Busy.'] }],
    );
    const cells = text
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(cells.slice(2)).toEqual([
      ['', 'POST', '1/s', 'echo: 2/s', '0.50 (0.40–0.60)', '≥ 0.5: met', ''],
      ['', 'turns', '1/s', 'echo: 2/s', '0.50 (0.40–0.60)', '≥ 9: **missed**', ''],
      ['', 'p50', '1/s', 'echo: 2/s', '0.50 (0.40–0.60)', '', ''],
    ]);
    expect(text.startsWith('- Node\n\n|')).toBe(true);
    expect(text.endsWith('|\n\n- Busy.')).toBe(true);
  });

  it.each(['embedded', 'ghosts', 'distributed'] as const)(
    'replaces only the measured block %s of the page, however often',
    async (block) => {
      const page = await readFile(
        new URL(`../../docs/explanation/performance/${pages[block]}`, import.meta.url),
        'utf8',
      );
      const once = withMeasured(page, block, 'first $& figures');
      const [begin, end] = [`<!-- measured: ${block} -->`, `<!-- /measured: ${block} -->`];
      expect(once).toContain(`${begin}\n\nfirst $& figures\n\n${end}`);
      expect(withMeasured(withMeasured(page, block, 'other figures'), block, 'first $& figures')).toBe(once);
      expect(once.split(begin)[0]).toBe(page.split(begin)[0]);
      expect(once.split(end)[1]).toBe(page.split(end)[1]);
    },
  );

  it('refuses a page without such a block', () => {
    expect(() => withMeasured('# Performance', 'embedded', 'figures')).toThrow('no block');
  });
});
