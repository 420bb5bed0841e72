import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';

import { createMindRequest } from '../../../../src/body/mind-request.js';
import type { TurnSummary } from '../../../../src/body/protocol.js';
import { route } from '../../../../src/kernel/http/route.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { startApp } from '../../../support/http.js';
import { typed } from '../../../cli/typed.js';

const count = 1_203;
const turn = (at: number): TurnSummary => ({
  turnId: `t${String(at)}_moe00000_\u001b[2J`,
  npcId: 'the guard',
  kind: 'process',
  state: at % 2 === 0 ? 'ended' : 'awaitingMemories',
  openedAt: '2026-05-01T10:00:00.000Z',
  deadlineAt: '2026-05-01T10:15:00.000Z',
  ...(at % 2 === 0 ? { endedAt: '2026-05-01T10:00:01.000Z' } : {}),
  ruleset: null,
});

/** A mind with many turns, as a paged list. */
const turnsRoute = route('GET', '/npcs/:npcId/turns', {
  operationId: 'listTurns',
  tag: 'Test',
  summary: 'Turns',
  scope: 'audit',
  params: Type.Object({ npcId: Type.String() }),
  query: Type.Object({
    limit: Type.Integer({ maximum: 500 }),
    cursor: Type.Optional(Type.String()),
    state: Type.Optional(Type.String()),
  }),
  responses: { 200: { description: 'The turns.' } },
  handler: ({ query: { limit, cursor = '0', state } }) => {
    const all = Array.from({ length: count }, (_, index) => turn(count - 1 - index));
    const wanted = all.filter((one) => state === undefined || one.state === state);
    const end = Number(cursor) + limit;
    const link = `</elsewhere/npcs/x/turns?limit=${String(limit)}&cursor=${String(end)}>; rel="next"`;
    return {
      body: wanted.slice(Number(cursor), end),
      ...(end < wanted.length ? { headers: { Link: `</old>; rel="deprecation", ${link}` } } : {}),
    };
  },
});

describe('anima turns', () => {
  it('prints a turn per line, newest first, however many pages that takes, without control characters', async () => {
    const app = await startApp([turnsRoute]);
    const anima = (...words: string[]) =>
      typed(['turns', 'the guard', ...words], { env: { ANIMA_URL: app.url, ANIMA_API_KEY: 'good' } });
    const lines = (text: string) => text.split('\n').slice(0, -1);
    const numbers = (text: string) =>
      lines(text)
        .slice(1)
        .map((line) => parseInt(line.slice(1), 10));
    try {
      const whole = await anima('--limit', '5000');
      expect([whole.code, whole.stderr]).toEqual([0, '']);
      expect(lines(whole.stdout)[0]).toMatch(/^TURN +STATE +OPENED +DEADLINE +ENDED$/);
      expect(numbers(whole.stdout)).toEqual(Array.from({ length: count }, (_, index) => count - 1 - index));
      expect(lines(whole.stdout).slice(1, 3)).toEqual([
        expect.stringMatching(
          / ended +2026-05-01T10:00:00\.000Z +2026-05-01T10:15:00\.000Z +2026-05-01T10:00:01\.000Z$/,
        ),
        expect.stringMatching(/ awaitingMemories +2026-05-01T10:00:00\.000Z +2026-05-01T10:15:00\.000Z +-$/),
      ]);
      expect(whole.stdout).not.toContain('\u001b');

      const cut = await anima('--limit', '600');
      expect(numbers(cut.stdout)).toEqual(Array.from({ length: 600 }, (_, index) => count - 1 - index));
      expect(cut.stderr).toBe('There are more: raise --limit to see them.\n');

      const waiting = await anima('--state', 'awaitingMemories', '--limit', '2', '--json');
      expect(lines(waiting.stdout).map((line) => JSON.parse(line))).toEqual([turn(count - 2), turn(count - 4)]);

      expect(await anima('--state', 'expired')).toEqual({ code: 0, stdout: '', stderr: 'No turns found.\n' });
    } finally {
      await app.stop();
    }
  });

  it('finds the turns of a real mind in every listed state [10.1i]', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['turns', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    await request('POST', '/npcs/guard/process', { tape: { observation: 'A stranger comes.' } });

    const found = await anima('guard', '--json');
    expect(JSON.parse(found.stdout)).toMatchObject({ npcId: 'guard', state: 'awaitingActor' });
    for (const [state, lines] of [
      ['awaitingActor', 1],
      ['awaitingMemories', 0],
      ['awaitingInference', 0],
      ['ended', 0],
      ['expired', 0],
    ] as const) {
      const { code, stdout } = await anima('guard', '--state', state, '--json');
      expect([state, code, stdout.split('\n').length - 1]).toEqual([state, 0, lines]);
    }
    expect(await anima('nobody')).toMatchObject({ code: 1, stdout: '' });
  });

  it('lists the open turns of all NPCs, oldest first, without one to be named', async () => {
    await using server = await openEmbeddedServer();
    const anima = (...words: string[]) =>
      typed(['turns', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey } });
    const request = createMindRequest({ baseUrl: server.url, key: server.ownerKey });
    expect(await anima('--open')).toEqual({ code: 0, stdout: '', stderr: 'No turns found.\n' });
    for (const npcId of ['guard', 'the cook'])
      await request('POST', `/npcs/${encodeURIComponent(npcId)}/process`, { tape: { observation: 'Rain.' } });

    const { code, stdout } = await anima('--open');
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(/^TURN +STATE +OPENED +DEADLINE +NPC$/),
        expect.stringMatching(/ awaitingActor +20\S+Z +20\S+Z +guard$/),
        expect.stringMatching(/ awaitingActor +20\S+Z +20\S+Z +the cook$/),
        '',
      ],
    ]);
    expect(JSON.parse((await anima('--open', '--limit', '1', '--json')).stdout)).toMatchObject({ npcId: 'guard' });
  });

  it.each([
    [[], 'Name an NPC, or pass --open for the open turns of all NPCs.\n'],
    [['guard', '--open'], '--open lists the open turns of all NPCs: leave out the NPC and --state.\n'],
    [['--open', '--state', 'ended'], '--open lists the open turns of all NPCs: leave out the NPC and --state.\n'],
  ])('refuses %j as wrong usage', async (words, stderr) => {
    expect(await typed(['turns', ...words])).toEqual({ code: 2, stdout: '', stderr });
  });
});
