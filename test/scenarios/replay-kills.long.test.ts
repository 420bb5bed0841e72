import { expect, it } from 'vitest';

import { writePlayedMinds } from '../../bench/replays/history.js';
import { openDataDirectory } from '../../src/adapters/embedded/data-directory.js';
import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { apiOf, type Reply } from '../support/api.js';
import { openEmbeddedServer } from '../support/embedded-server.js';

const rules = { rulesetRules: [{ drRuleId: 'still', ruleAction: 'FORBID INTERACT', ruleReason: 'Touch nothing.' }] };
const minds = 40;
const turns = 100;

type Replay = Record<string, unknown> & { readonly replayId: string; readonly status: string };

it('a trial of thousands of turns finds the same although it is killed again and again', async () => {
  await using server = await openEmbeddedServer();
  await server.halt();
  {
    using data = await openDataDirectory(server.dataDir);
    await using store = EmbeddedEventStore.open(data.eventsFile);
    await writePlayedMinds({ store, clock: systemClock }, { minds, turns });
  }
  await server.restart('kill');
  const ask = async (method: 'GET' | 'POST', path: string): Promise<Replay> => {
    const reply: Reply = await apiOf(server.url, server.ownerKey)(
      method,
      path,
      method === 'POST' ? { rules } : undefined,
    );
    expect(reply.status, reply.text).toBeLessThan(300);
    return reply.body as Replay;
  };
  const over = async (replayId: string): Promise<Replay> => {
    await expect
      .poll(async () => (await ask('GET', `/replays/${replayId}`)).status, { timeout: 120_000, interval: 300 })
      .not.toBe('running');
    return ask('GET', `/replays/${replayId}`);
  };
  const {
    replayId: _whole,
    startedAt: _from,
    endedAt: _to,
    ...whole
  } = await over((await ask('POST', '/replays')).replayId);
  expect(whole).toMatchObject({ status: 'completed', minds, turns: { checked: minds * turns } });
  const { replayId } = await ask('POST', '/replays');
  for (let kill = 0; kill < 3; kill += 1) await server.restart('kill');
  expect(await over(replayId)).toMatchObject(whole);
}, 300_000);
