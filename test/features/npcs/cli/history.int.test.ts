import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import type { HistoryEvent } from '../../../../src/body/protocol.js';
import { route } from '../../../../src/kernel/http/route.js';
import { built } from '../../../support/built.js';
import { startApp } from '../../../support/http.js';
import { typed } from '../../../cli/typed.js';

const count = 1_203;
const event = (revision: number): HistoryEvent => ({
  revision,
  id: `id-${String(revision)}`,
  type: 'TurnOpened',
  at: '2026-05-01T10:00:00.000Z',
  actor: 'key',
  turnId: 't1',
  data: { observation: `line ${String(revision)} \u001b[2J` },
  hash: '',
  prevHash: '',
  ...(revision === 7 ? { broken: true } : {}),
});

/** A mind with a long history, behind the paging of the history route. */
const historyRoute = route('GET', '/npcs/:npcId/history', {
  operationId: 'getHistory',
  tag: 'Test',
  summary: 'A history',
  scope: 'audit',
  params: Type.Object({ npcId: Type.String() }),
  query: Type.Object({
    from: Type.Optional(Type.Integer()),
    limit: Type.Integer({ maximum: 500 }),
    direction: Type.String(),
    type: Type.Optional(Type.String()),
  }),
  responses: { 200: { description: 'The history.' } },
  handler: ({ params, query }) => {
    const backwards = query.direction === 'backwards';
    const all = Array.from({ length: count }, (_, index) => event(backwards ? count - 1 - index : index));
    const from = query.from ?? (backwards ? count - 1 : 0);
    const begin = all.findIndex(({ revision }) => revision === from);
    const events = begin < 0 || query.type === 'SoulSealed' ? [] : all.slice(begin, begin + query.limit);
    const next = begin < 0 ? undefined : all[begin + query.limit]?.revision;
    return { body: { npcId: params.npcId, revision: count - 1, events, ...(next === undefined ? {} : { next }) } };
  },
});

describe('anima history', () => {
  it('prints an event per line, however many pages that takes, without control characters', async () => {
    const app = await startApp([historyRoute]);
    const anima = (...words: string[]) =>
      typed(['history', 'the guard', ...words], { env: { ANIMA_URL: app.url, ANIMA_API_KEY: 'good' } });
    const revisions = (text: string) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => Number(line.slice(0, 6)));
    try {
      const whole = await anima('--limit', '5000');
      expect(whole.code).toBe(0);
      expect(revisions(whole.stdout)).toEqual(Array.from({ length: count }, (_, revision) => revision));
      expect(whole.stdout).not.toContain('\u001b');

      const cut = await anima('--from', '8', '--limit', '600');
      expect(revisions(cut.stdout)).toEqual(Array.from({ length: 600 }, (_, index) => 8 + index));
      expect(cut.stderr).toBe('There are more events: continue with --from 608.\n');

      const newest = await anima('--backwards', '--limit', '2', '--json');
      expect(
        newest.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual([event(count - 1), event(count - 2)]);
      expect((await anima('--type', 'SoulSealed', '--limit', '1')).stdout).toBe('');
    } finally {
      await app.stop();
    }
  });

  it.each([[[]], [['--json']]])('marks a forged event and warns of it, with %j [10.13c]', async (words) => {
    const app = await startApp([historyRoute]);
    try {
      const { code, stdout, stderr } = await typed(['history', 'guard', '--from', '6', '--limit', '3', ...words], {
        env: { ANIMA_URL: app.url, ANIMA_API_KEY: 'good' },
      });
      expect(code).toBe(0);
      expect(stdout.split('\n').map((line) => /BROKEN|"broken":true/.test(line))).toEqual([false, true, false, false]);
      expect(stderr).toContain(
        'Not what was recorded: 1 event, marked as broken. "anima chain guard" and "anima audit guard" show more.\n',
      );
    } finally {
      await app.stop();
    }
  });

  it('refuses a type that is none, and says which was meant, before it asks the server [11.5h]', async () => {
    const anima = (type: string) => typed(['history', 'guard', '--type', type]);
    const misspelt = await anima('TurnOpened,Verdict_refused');
    expect([misspelt.code, misspelt.stderr]).toEqual([
      2,
      expect.stringContaining('"Verdict_refused" is not an event type. Perhaps VerdictRefused was meant.'),
    ]);
    expect((await anima('Weather')).stderr).toContain('docs/reference/events lists them.');
  });

  it('ends quietly when its reader closes the pipe', async () => {
    const app = await startApp([historyRoute]);
    try {
      const words = ['history', 'guard', '--limit', '1000000', '--json'];
      const child = spawn(process.execPath, [built('src/cli/anima.js'), ...words], {
        env: { ...process.env, ANIMA_URL: app.url, ANIMA_API_KEY: 'good' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.stdout.once('data', () => child.stdout.destroy());
      expect(await once(child, 'close')).toEqual([0, null]);
      expect(stderr).not.toMatch(/EPIPE|\n\s+at /);
    } finally {
      await app.stop();
    }
  });
});
