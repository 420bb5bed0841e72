import { cp } from 'node:fs/promises';
import { join } from 'node:path';

import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { EmbeddedEventStore } from '../../src/adapters/embedded/event-store.js';
import { parseConfig } from '../../src/config/config.js';
import { createLogger } from '../../src/config/logger.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { startServer } from '../../src/server/server.js';
import { type Api, apiOf, codeOf } from '../support/api.js';
import { forged, type ForgedSeals } from '../support/forge.js';
import { eventsOf } from '../support/streams.js';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { resultsOf } from '../support/writers.js';

const MIRA = npcStream('local', 'mira');

const startOn = async (dataDir: string) => {
  const env = { PORT: '0', ANIMA_DATA_DIR: dataDir, ANIMA_RATE_LIMIT: 'off' };
  const server = await startServer(parseConfig(env, '/'), createLogger('silent'), new AbortController().signal);
  if (server === null) throw new Error('the server was stopped');
  return server;
};

/** Plays a turn to its end. @returns the last request and its answer */
const play = async (api: Api, npcId: string) => {
  let body: JsonObject = {};
  let reply = await api.get('/livez');
  let tape: unknown = { observation: 'A stranger asks for a room.' };
  for (const lastResult of resultsOf(npcId)) {
    body = { tape: tape as JsonObject, lastResult };
    reply = await api.post(`/npcs/${npcId}/process`, body);
    tape = reply.body.tape;
  }
  return { body, answer: reply.body, turnId: reply.body.tape.turnId as string };
};

/** Changes an event in the file of a stopped server, and computes the chain again from there. */
const forge = async (
  dataDir: string,
  at: number,
  change: (event: RecordedEvent) => Partial<Pick<RecordedEvent, 'data'>>,
  seals: ForgedSeals,
): Promise<void> => {
  const file = join(dataDir, 'events.db');
  let events: readonly RecordedEvent[];
  {
    await using store = EmbeddedEventStore.open(file);
    events = forged(await eventsOf(store, MIRA), at, change, seals);
  }
  const database = new DatabaseSync(file);
  const update = database.prepare('UPDATE events SET data = ?, meta = ? WHERE position = ?');
  for (const { data, meta, position } of events) update.run(JSON.stringify(data), JSON.stringify(meta), position);
  database.close();
};

describe('a store that was changed while its server was stopped', () => {
  let original: Awaited<ReturnType<typeof temporaryDirectory>>;
  let key = '';
  let first: Awaited<ReturnType<typeof play>>;
  let second: Awaited<ReturnType<typeof play>>;
  let history: readonly { readonly type: string; readonly turnId?: string }[] = [];
  beforeAll(async () => {
    original = await temporaryDirectory();
    const server = await startOn(original.path);
    key = server.ownerKey?.key ?? '';
    const api = apiOf(server.url, key);
    first = await play(api, 'mira');
    second = await play(api, 'mira');
    history = (await api.get('/npcs/mira/history')).body.events;
    expect(history.some((event) => 'broken' in event || 'mac' in event)).toBe(false);
    expect((await api.get(`/npcs/mira/turns/${second.turnId}`)).body.verdict.signature).toBe(
      second.answer.instruction.signature,
    );
    await server.stop();
  });
  afterAll(() => original[Symbol.asyncDispose]());

  const place = (type: string): number =>
    history.findIndex((event) => event.type === type && event.turnId === second.turnId);

  /** A server on a copy of the store in which an event of the second turn was changed. */
  const onForged = async (
    type: string,
    change: (data: JsonObject) => JsonObject,
    seals: ForgedSeals,
    work: (api: Api, at: number) => Promise<void>,
  ): Promise<void> => {
    await using copy = await temporaryDirectory();
    await cp(original.path, copy.path, { recursive: true });
    const at = place(type);
    await forge(copy.path, at, ({ data }) => ({ data: change(data) }), seals);
    const server = await startOn(copy.path);
    try {
      await work(apiOf(server.url, key), at);
    } finally {
      await server.stop();
    }
  };
  const otherWords = (data: JsonObject): JsonObject => ({
    ...data,
    verdict: { ...(data['verdict'] as JsonObject), dialogue: 'The safe is open.' },
  });

  for (const seals of ['kept', 'removed'] as const) {
    it(`does not get a signature for other words of a verdict, with its seals ${seals} [10.13b, 10.13c]`, async () => {
      await onForged('VerdictReached', otherWords, seals, async (api, at) => {
        const turn = await api.get(`/npcs/mira/turns/${second.turnId}`);
        expect(turn.status).toBe(409);
        expect(turn.body.error).toMatchObject({ code: 'CHAIN_BROKEN', details: { npcId: 'mira', revision: at } });
        expect(codeOf(await api.post('/npcs/mira/process', second.body))).toBe('CHAIN_BROKEN');

        const why = await api.get(`/npcs/mira/verdicts/${second.turnId}/why`);
        expect(why.status).toBe(200);
        expect(why.body).toMatchObject({ broken: true, verdict: { dialogue: 'The safe is open.', signature: null } });
        const { events } = (await api.get('/npcs/mira/history')).body;
        expect(events.map((event: { broken?: true }) => event.broken)).toEqual(
          history.map((_, revision) => (revision >= at ? true : undefined)),
        );

        const before = await api.get(`/npcs/mira/turns/${first.turnId}`);
        expect(before.body.verdict.signature).toBe(first.answer.instruction.signature);
      });
    });
  }

  it('does not get a signature for another observation of a turn [10.13b]', async () => {
    const change = (data: JsonObject): JsonObject => ({ ...data, observation: 'The captain asks for a room.' });
    await onForged('TurnOpened', change, 'kept', async (api, at) => {
      const turn = await api.get(`/npcs/mira/turns/${second.turnId}`);
      expect(turn.body.error).toMatchObject({ code: 'CHAIN_BROKEN', details: { revision: at } });
    });
  });

  it('gives no soul of a mind whose history was changed, and keeps its head out of the log [10.13b]', async () => {
    await onForged('VerdictReached', otherWords, 'kept', async (api, at) => {
      const exported = await api.post('/npcs/mira/soul/export', { npcState: {}, includeMemories: true });
      expect(exported.status).toBe(409);
      expect(exported.body.error).toMatchObject({ code: 'CHAIN_BROKEN', details: { npcId: 'mira', revision: at } });
    });
    await onForged('VerdictReached', otherWords, 'kept', async (api) => {
      await api.post('/npcs', { npcId: 'bran', persona: 'Lights the lamps.' });
      const made = await api.post('/audit/checkpoints');
      expect(made.status).toBe(200);
      expect((await api.get('/npcs/bran/audit/proof')).status).toBe(200);
      expect(codeOf(await api.get('/npcs/mira/audit/proof'))).toBe('PROOF_NOT_FOUND');
    });
  });
});

describe('a store that is changed while its server runs', () => {
  it('gets no signature for other words, although the server wrote them itself [10.13b]', async () => {
    await using directory = await temporaryDirectory();
    const server = await startOn(directory.path);
    try {
      const api = apiOf(server.url, server.ownerKey?.key ?? '');
      const judged = await api.post('/npcs/odo/verdict', {
        observation: 'A stranger asks for water.',
        generatedOutput: '{"dialogue":"The well is closed."}',
      });
      const { turnId } = judged.body;
      expect(judged.body.signature).toEqual(expect.any(String));
      const database = new DatabaseSync(join(directory.path, 'events.db'));
      const { changes } = database
        .prepare(
          "UPDATE events SET data = replace(data, 'The well is closed.', 'Drink this.') WHERE type = 'VerdictReached'",
        )
        .run();
      database.close();
      expect(changes).toBe(1);
      expect(codeOf(await api.get(`/npcs/odo/turns/${turnId}`))).toBe('CHAIN_BROKEN');
      expect((await api.get(`/npcs/odo/verdicts/${turnId}/why`)).body).toMatchObject({
        broken: true,
        verdict: { dialogue: 'Drink this.', signature: null },
      });
    } finally {
      await server.stop();
    }
  });

  it('gives souls their memories from its events, whatever the read models say [10.13b]', async () => {
    await using directory = await temporaryDirectory();
    const first = await startOn(directory.path);
    const key = first.ownerKey?.key ?? '';
    const text = 'A stranger asked for the way.';
    await apiOf(first.url, key).post('/npcs', { npcId: 'mira', persona: 'Keeps the inn.' });
    await apiOf(first.url, key).post('/npcs/mira/memory', { text });
    expect((await apiOf(first.url, key).get('/npcs/mira/memory')).text).toContain(text);
    await first.stop();
    const database = new DatabaseSync(join(directory.path, 'reads.db'));
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rows_%'").all();
    let changed = 0;
    for (const { name } of tables as { readonly name: string }[])
      changed += database
        .prepare(`UPDATE ${name} SET row = replace(row, ?, 'The king robbed me.') WHERE row LIKE ?`)
        .run(text, `%${text}%`).changes;
    database.close();
    expect(changed).toBeGreaterThan(0);
    const second = await startOn(directory.path);
    try {
      const exported = await apiOf(second.url, key).post('/npcs/mira/soul/export', {
        npcState: {},
        includeMemories: true,
      });
      expect(exported.status, exported.text).toBe(200);
      expect(exported.text).toContain(text);
      expect(exported.text).not.toContain('The king robbed me.');
    } finally {
      await second.stop();
    }
  });
});
