import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { Database } from '../../../src/adapters/embedded/database.js';
import { openEventReader } from '../../../src/adapters/embedded/event-reader.js';
import { EmbeddedEventStore } from '../../../src/adapters/embedded/event-store.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { startTypeScript } from '../../support/child.js';
import { event, events, namesOf } from '../../support/events.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

/** Starting processes takes a while on a busy machine. */
const PROCESS_MS = 90_000;
const forwards = { direction: 'forwards', limit: 4096 } as const;
const APPENDING = new URL('../../support/appending-process.ts', import.meta.url);

describe('The embedded event store', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let file: string;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    file = join(directory.path, 'events.db');
  });
  afterEach(() => directory[Symbol.asyncDispose]());

  it(
    'keeps every acknowledged event exactly once when it is killed during appends, and accepts new ones',
    { timeout: PROCESS_MS },
    async () => {
      const streams = 8;
      for (let round = 1; round <= 2; round += 1) {
        const path = join(directory.path, `${round}.db`);
        const child = startTypeScript(APPENDING, { args: [path, String(streams)] });
        await child.waitForLine(new RegExp(`^s0 ${round * 50}$`));
        await child.kill();
        const acknowledged = new Map<string, number>();
        for (const line of child.lines) {
          const [stream = '', revision = ''] = line.split(' ');
          acknowledged.set(stream, Math.max(acknowledged.get(stream) ?? 0, Number(revision)));
        }
        expect(acknowledged.size).toBe(streams);

        await using store = EmbeddedEventStore.open(path);
        const open: string[] = [];
        for (const [stream, revision] of acknowledged) {
          const read = await store.read(stream, forwards);
          expect(read.lastRevision).toBeGreaterThanOrEqual(revision);
          expect(namesOf(read.events)).toEqual(read.events.map((_, index) => `${stream}-${index}`));
          expect(read.events.map((each) => each.revision)).toEqual(read.events.map((_, index) => index));
          if (read.lastRevision % 2 === 0) open.push(stream);
          // Appends in flight at the kill are sent again: they end up written exactly once.
          const next = read.lastRevision;
          const last = [event(`${stream}-${next}`)];
          expect(await store.append(stream, next - 1, last)).toMatchObject({ ok: true, repeated: true });
          expect(await store.append(stream, next, [event('next')])).toMatchObject({ ok: true, revision: next + 1 });
        }
        expect((await store.openProcesses()).map(({ stream }) => stream).sort()).toEqual(open.sort());
      }
    },
  );

  it('flushes every commit, however it was opened, and refuses a database that does not', async () => {
    for (let open = 0; open < 2; open += 1) {
      const database = Database.open(file, { synchronous: 'FULL' });
      await using store = EmbeddedEventStore.open(database);
      expect(await store.append(`s${open}`, 'no_stream', [event('a')])).toMatchObject({ ok: true });
      expect([database.pragma('synchronous'), database.pragma('journal_mode')]).toEqual([2, 'wal']);
    }
    expect(() => EmbeddedEventStore.open(Database.open(file, { synchronous: 'NORMAL' }))).toThrow(/synchronous = 2/);
  });

  describe('on a full disk', () => {
    let database: Database;
    let store: EmbeddedEventStore;
    const full = (): void => database.exec(`PRAGMA max_page_count = ${Number(database.pragma('page_count'))}`);
    const big = (name: string) => event(name, { data: { name, text: 'x'.repeat(100_000) } });
    const mark = (open: boolean) => ({ name: 'turn', id: 't1', open, due: null });

    beforeEach(async () => {
      database = Database.open(file, { synchronous: 'FULL' });
      store = EmbeddedEventStore.open(database);
      await store.append('s', 'no_stream', [event('a-0', { process: mark(true) }), event('a-1')]);
    });
    afterEach(() => store[Symbol.asyncDispose]());

    it('refuses every append of the commit, keeps reading, and writes again once there is space [11.3g]', async () => {
      const before = [await store.readAll(0, 100), await store.lastPosition(), await store.openProcesses()];
      full();
      const settled = await Promise.allSettled([
        store.append('s', 1, [event('small', { process: mark(false) })]),
        store.append('new', 'no_stream', [big('big')]),
        store.append('s', 2, [event('behind')]),
      ]);
      for (const result of settled)
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'STORE_FULL', retryAfter: 5 } });
      expect([await store.readAll(0, 100), await store.lastPosition(), await store.openProcesses()]).toEqual(before);
      expect(await store.read('new', forwards)).toEqual({ events: [], lastRevision: -1 });

      database.exec('PRAGMA max_page_count = 1000000');
      expect(await store.append('other', 'no_stream', [event('first')])).toMatchObject({ ok: true, revision: 0 });
      expect(await store.append('new', 'no_stream', [big('big')])).toMatchObject({
        ok: true,
        revision: 0,
        repeated: false,
      });
      expect(await store.append('s', 1, [event('small', { process: mark(false) })])).toMatchObject({
        ok: true,
        revision: 2,
      });
      const all = await store.readAll(0, 100);
      expect(all.map(({ stream, revision }) => `${stream}@${revision}`)).toEqual([
        's@0',
        's@1',
        'other@0',
        'new@0',
        's@2',
      ]);
      expect(await store.openProcesses()).toEqual([]);
    });

    it('shows subscribers only what was written', async () => {
      const ending = new AbortController();
      const seen: unknown[] = [];
      const reading = (async () => {
        for await (const batch of store.subscribe({ after: 0, signal: ending.signal })) {
          seen.push(...namesOf(batch));
          if (seen.includes('end')) return;
        }
      })();
      full();
      await expect(store.append('s', 1, [big('refused')])).rejects.toMatchObject({ code: 'STORE_FULL' });
      database.exec('PRAGMA max_page_count = 1000000');
      await store.append('s', 1, [event('end')]);
      await reading;
      expect(seen).toEqual(['a-0', 'a-1', 'end']);
    });
  });

  it('refuses appends beyond the limit of its queue with BUSY, and accepts them again once it has drained', async () => {
    await using store = EmbeddedEventStore.open(file, { appendsWaiting: 3, appendsPerCommit: 2 });
    const sent = Array.from({ length: 5 }, (_, index) => store.append(`s${index}`, 'no_stream', [event(`e${index}`)]));
    const settled = await Promise.allSettled(sent);
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(settled[4]).toMatchObject({ reason: { code: 'BUSY', retryAfter: 1 } });
    expect(await store.append('s4', 'no_stream', [event('e4')])).toMatchObject({ ok: true });
    expect(namesOf(await store.readAll(0, 10))).toEqual(['e0', 'e1', 'e2', 'e4']);
  });

  it('limits the waiting text as well', async () => {
    await using store = EmbeddedEventStore.open(file, { textWaiting: 10_000 });
    const big = event('big', { data: { text: 'x'.repeat(10_000) } });
    await expect(store.append('s', 'no_stream', [big])).rejects.toMatchObject({ code: 'BUSY' });
    expect(await store.append('s', 'no_stream', [event('small')])).toMatchObject({ ok: true });
  });

  it('holds more streams than it caches the heads of', async () => {
    await using store = EmbeddedEventStore.open(file, { headsKept: 4 });
    for (let round = 0; round < 3; round += 1) {
      const expected = round === 0 ? 'no_stream' : round - 1;
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.append(`s${index}`, expected, [event(`${index}-${round}`)])),
      );
    }
    for (let index = 0; index < 20; index += 1)
      expect(namesOf((await store.read(`s${index}`, forwards)).events)).toEqual(
        [0, 1, 2].map((round) => `${index}-${round}`),
      );
    expect((await store.readAll(0, 100)).map(({ stream }) => stream)).toEqual(
      Array.from({ length: 60 }, (_, index) => `s${index % 20}`),
    );
  });

  it('does not open a file that is not a database', async () => {
    await writeFile(file, 'this is no database, but long enough to be taken for one '.repeat(100));
    expect(() => EmbeddedEventStore.open(file)).toThrow(/is damaged\. Restore the entire data directory/);
  });

  it('names and logs the mind and the file when a page is unreadable, and reads everything else', async () => {
    const [one, other] = [npcStream('studio', 'tom'), npcStream('studio', 'mira')];
    {
      await using store = EmbeddedEventStore.open(file);
      const text = 'a page of its own '.repeat(200);
      for (const stream of [one, other])
        await store.append(
          stream,
          'no_stream',
          Array.from({ length: 40 }, (_, n) => event(`${stream}-${n}`, { data: { name: `${stream}-${n}`, text } })),
        );
    }
    using lookingAt = Database.open(file, { synchronous: 'FULL' });
    const pageSize = Number(lookingAt.pragma('page_size'));
    lookingAt[Symbol.dispose]();
    const bytes = await readFile(file);
    const at = bytes.lastIndexOf(Buffer.from(`"${other}-20"`));
    await writeFile(file, bytes.fill(0xff, at - (at % pageSize), at - (at % pageSize) + pageSize));
    const logged: string[] = [];
    await using store = EmbeddedEventStore.open(file, {}, { error: (_, message) => void logged.push(message) });
    expect((await store.read(one, forwards)).events).toHaveLength(40);
    const refused = {
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('events.db is damaged: the history of the mind "mira" cannot be read') as string,
    };
    await expect(store.read(other, forwards)).rejects.toMatchObject(refused);
    expect(logged).toEqual(['Cannot read the history of the mind "mira": the file is damaged']);
    using reader = openEventReader(file);
    await expect(reader.read(other, forwards)).rejects.toMatchObject(refused);
  });

  it('names the file if a row can be read, but its text is no JSON or the name of its stream is gone', async () => {
    const stream = npcStream('local', 'mira');
    {
      await using store = EmbeddedEventStore.open(file);
      await store.append(stream, 'no_stream', [event('e', { data: { text: 'between the brackets' } })]);
    }
    const bytes = await readFile(file);
    const at = bytes.lastIndexOf(Buffer.from('between the brackets'));
    await writeFile(file, bytes.fill('"', at, at + 4));
    {
      await using store = EmbeddedEventStore.open(file);
      const message = expect.stringContaining('the history of the mind "mira" cannot be read') as string;
      await expect(store.read(stream, forwards)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message });
      using reader = openEventReader(file);
      await expect(reader.read(stream, forwards)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message });
    }
    {
      using database = Database.open(file, { synchronous: 'FULL' });
      database.exec('DELETE FROM streams');
    }
    await using store = EmbeddedEventStore.open(file);
    const message = expect.stringContaining('events.db is damaged: an event after position 0 cannot be read') as string;
    await expect(store.readAll(0, 10)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message });
  });

  it('reports whether it is writable and readable [10.6c]', async () => {
    using database = Database.open(file, { synchronous: 'FULL' });
    await using store = EmbeddedEventStore.open(database);
    await store.append('s', 'no_stream', events('s', 3));
    await store.probe();
    expect(await store.lastPosition()).toBe(3);
    await store[Symbol.asyncDispose]();
    await expect(store.probe()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('writes many events in parallel and finds each of them', async () => {
    await using store = EmbeddedEventStore.open(file);
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => store.append(`s${index}`, 'no_stream', events(`${index}`, 100))),
    );
    const found = new Set<string>();
    for (let after = 0, more = true; more;) {
      const page = await store.readAll(after, 4096);
      for (const { id } of page) found.add(id);
      after = page.at(-1)?.position ?? after;
      more = page.length > 0;
    }
    expect(found.size).toBe(4000);
  });
});
