import { randomUUID } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import { sha256Hex } from '../../../../src/kernel/crypto/sha256.js';
import { hashInput } from '../../../support/hash-input.js';
import type { RecordedEvent } from '../../../../src/ports/event-store.js';
import { apiOf, codeOf } from '../../../support/api.js';
import { cutStream, editEvent, startAttacked } from '../../../support/attacked-server.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { canVerify, pythonScript } from '../../../support/python-script.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';

type Events = Parameters<Parameters<typeof startAttacked>[1]>[0];

const MIND = 'npc-local.gatekeeper';

/** Runs the verifier in Python, where it can run. */
const python = async (use: (verifier: ReturnType<typeof pythonScript>) => Promise<void>): Promise<void> => {
  if (!canVerify()) return;
  using verifier = pythonScript(join(import.meta.dirname, '../../../../examples/verify_history.py'));
  await use(verifier);
};

describe('an attack on the files of a stopped server', () => {
  let server: ServerUnderTest;
  let kept: string;
  beforeAll(async () => {
    server = await openEmbeddedServer();
    const api = apiOf(server.url, server.ownerKey);
    for (const text of ['One.', 'Two.', 'Three.']) await api.post('/npcs/gatekeeper/memory', { text });
    await api.post('/npcs/odo/memory', { text: 'A quiet day.' });
    expect(
      (await api.post('/rules', { rulesetId: 'shop', rulesetRules: [{ drRuleId: 'gifts' }] })).status,
    ).toBeLessThan(300);
    kept = ((await api.post('/audit/checkpoints', {})).body as { readonly note: string }).note;
    await server.halt();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('that edits an event stays broken after an acknowledgement, which hides no other edit [10.5m, 10.5o, 10.5p]', async () => {
    await using attacked = await startAttacked(server, (events) =>
      editEvent(events, MIND, 2, (data) => data.replace('Two.', 'Six.')),
    );
    const { anima } = attacked;
    const found = await anima('audit');
    expect([found.code, found.stdout]).toEqual([1, 'gatekeeper  revision 2: its content does not match its hash\n']);
    expect((await anima('audit', '--accept-acknowledged')).code).toBe(1);
    expect((await anima('chain', 'gatekeeper', '--reason', 'never mind')).code).toBe(2);
    expect((await anima('chain', 'gatekeeper', '--acknowledge', '--reason', 'a disk fault')).code).toBe(0);

    const known = await anima('audit');
    expect([known.code, known.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^gatekeeper {2}revision 2: its content does not match its hash \(acknowledged by \S+ at 20\S+Z: a disk fault\)\n$/,
      ),
    ]);
    expect(known.stderr).toContain('--accept-acknowledged');
    const accepted = await anima('audit', '--accept-acknowledged');
    expect([accepted.code, accepted.stderr]).toEqual([0, expect.stringContaining('an acknowledged break')]);
    expect(accepted.stderr).not.toContain('intact');
    expect((await attacked.api.post('/audit/verify', {})).body).toMatchObject({
      valid: false,
      broken: [{ npcId: 'gatekeeper', acknowledged: { by: expect.any(String) as string, reason: 'a disk fault' } }],
    });
  });

  it('that cuts a history below a head in the log is named by the audit and by both verifiers [10.5m, 10.5q, 10.5r]', async () => {
    await using attacked = await startAttacked(server, (events) => cutStream(events, MIND, 4));
    const { anima, folder } = attacked;
    const found = await anima('audit');
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('it ends at 3')]);
    expect((await anima('bundle', 'gatekeeper', '--out', 'cut.ndjson')).code).toBe(0);
    const missing =
      'the history was cut: the log contains its revision 5, but it ends at 3, so revisions 4 to 5 are missing';
    const said = await anima('verify', 'cut.ndjson', '--any-key');
    expect([said.code, said.stderr]).toEqual([1, expect.stringContaining(missing)]);
    await python(async (verifier) => {
      const theirs = await verifier.run('', join(folder, 'cut.ndjson'), '--any-key');
      expect([theirs.status, theirs.said]).toEqual([1, expect.stringContaining(missing)]);
    });
  });

  it('that cuts a history leaves what the log covers before the cut, and the verifiers say up to where [10.5l]', async () => {
    await using whole = await startAttacked(server, () => undefined);
    await whole.api.post('/npcs/gatekeeper/memory', { text: 'Four.' });
    expect((await whole.anima('checkpoint')).code).toBe(0);
    await using attacked = await startAttacked(
      { dataDir: join(whole.folder, 'data'), ownerKey: server.ownerKey },
      (events) => cutStream(events, MIND, 7),
    );
    const { anima, folder } = attacked;
    expect((await anima('bundle', 'gatekeeper', '--to', '5', '--out', 'before.ndjson')).code).toBe(0);
    const said = await anima('verify', 'before.ndjson', '--any-key');
    expect([said.code, said.stdout]).toEqual([0, expect.stringContaining('Proven: the 6 events up to revision 5')]);
    await python(async (verifier) => {
      const theirs = await verifier.run('', join(folder, 'before.ndjson'), '--any-key');
      expect([theirs.status, theirs.said]).toEqual([0, expect.stringContaining('logged up to 5')]);
    });
  });

  it('that cuts a history back to an older head in the log is named by both verifiers [10.5q, 10.5r, 10.5x]', async () => {
    await using whole = await startAttacked(server, () => undefined);
    await whole.api.post('/npcs/gatekeeper/memory', { text: 'Four.' });
    expect((await whole.anima('checkpoint', '--out', 'newest.note')).code).toBe(0);
    const dataDir = join(whole.folder, 'data');
    await using attacked = await startAttacked({ dataDir, ownerKey: server.ownerKey }, (events) => {
      cutStream(events, MIND, 6);
      // The position of an event is in no hash.
      events
        .prepare(
          'UPDATE events SET position = 999999 WHERE stream = (SELECT id FROM streams WHERE name = ?) AND revision = 5',
        )
        .run(MIND);
    });
    const { anima, folder } = attacked;
    const kept = ['--checkpoint', join(whole.folder, 'newest.note')];
    expect((await anima('bundle', 'gatekeeper', ...kept, '--out', 'cut.ndjson')).code).toBe(0);
    const missing =
      'the history was cut: the log contains its revision 7, but it ends at 5, so revisions 6 to 7 are missing';
    const said = await anima('verify', 'cut.ndjson', '--any-key', ...kept);
    expect([said.code, said.stderr]).toEqual([1, expect.stringContaining(missing)]);
    await python(async (verifier) => {
      const theirs = await verifier.run('', join(folder, 'cut.ndjson'), '--any-key', ...kept);
      expect([theirs.status, theirs.said]).toEqual([1, expect.stringContaining(missing)]);
    });
  });

  it('that deletes the log leaves nothing that is called intact, and a kept checkpoint shows it [10.5s, 10.5t]', async () => {
    await using attacked = await startAttacked(server, (events) => {
      editEvent(events, MIND, 2, (data) => data.replace('Two.', 'Six.'));
      cutStream(events, 'checkpoints-local', 0);
    });
    const { anima, folder } = attacked;
    await writeFile(join(folder, 'kept.note'), kept);
    const plain = await anima('audit', 'odo');
    expect([plain.code, plain.stderr]).toEqual([3, expect.stringMatching(/^No log: /)]);
    expect((await attacked.api.post('/audit/verify', { npcIds: ['odo'] })).body).toMatchObject({
      ...{ valid: false, broken: [], log: null },
    });
    const checked = await anima('audit', 'odo', '--checkpoint', 'kept.note');
    expect([checked.code, checked.stderr]).toEqual([1, expect.stringContaining('the server has no log')]);
  });

  it('that puts back an older data directory is found with a kept checkpoint [10.5t]', async () => {
    await using later = await startAttacked(server, () => undefined);
    await later.api.post('/npcs/odo/memory', { text: 'A loud night.' });
    expect((await later.anima('checkpoint', '--out', 'later.note')).code).toBe(0);
    const note = await readFile(join(later.folder, 'later.note'));
    const extended = await later.anima('audit', '--checkpoint', 'later.note');
    expect([extended.code, extended.stderr]).toEqual([
      0,
      expect.stringContaining('The log extends the kept checkpoint'),
    ]);
    await writeFile(join(later.folder, 'kept.note'), kept);
    expect((await later.anima('audit', '--checkpoint', 'kept.note')).code).toBe(0);

    await using older = await startAttacked(server, () => undefined);
    await writeFile(join(older.folder, 'later.note'), note);
    expect((await older.anima('audit')).code).toBe(0);
    const found = await older.anima('audit', '--checkpoint', 'later.note');
    expect([found.code, found.stderr]).toEqual([1, expect.stringContaining('the kept checkpoint is of a larger log')]);
  });

  it('that makes a log older than what was published of it is found before the next signature [10.5i, 10.5u, 10.5v]', async () => {
    await using later = await startAttacked(server, () => undefined);
    const file = join(later.folder, 'notes');
    const env = { ANIMA_CHECKPOINT_URL: pathToFileURL(file).href, ANIMA_PUBLIC_URL: 'http://minds.example' };
    await using publishing = await startAttacked(server, () => undefined, env);
    await publishing.api.post('/npcs/odo/memory', { text: 'A loud night.' });
    const published = await publishing.anima('checkpoint', '--json');
    const { size } = JSON.parse(published.stdout) as { readonly size: number };

    for (const attack of [() => undefined, (events: Events) => cutStream(events, 'checkpoints-local', 0)]) {
      await using attacked = await startAttacked(server, attack, env);
      const { anima, api } = attacked;
      // The origin keeps the address at the first checkpoint.
      if (attack.length > 0)
        await appendFile(file, `${JSON.stringify({ note: `minds.example/audit/local\n${String(size)}\nx\n` })}\n`);
      await api.post('/npcs/odo/memory', { text: 'A forged night.' });
      const refused = await api.post('/audit/checkpoints', {});
      expect([refused.status, refused.body]).toMatchObject([
        409,
        { error: { code: 'LOG_BEHIND', details: { published: size } } },
      ]);
      expect((await anima('checkpoint')).stderr).toContain('npx anima log restart');
      const restarted = await anima('log', 'restart', '--reason', 'an older backup was restored');
      expect([restarted.code, restarted.stdout]).toEqual([0, expect.stringMatching(/\/audit\/local\/2\n$/)]);
      const made = await anima('checkpoint');
      expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('/audit/local/2\n')]);
      expect((await anima('audit')).code).toBe(0);
    }
  });

  it('that gives the log another name by a forged event signs nothing, and neither does a restart [10.5u, 10.5z]', async () => {
    await using folder = await temporaryDirectory();
    const env = { ANIMA_CHECKPOINT_URL: pathToFileURL(join(folder.path, 'notes')).href };
    const log = 'stream = (SELECT id FROM streams WHERE name = ?)';
    await using attacked = await startAttacked(
      server,
      (events) => {
        cutStream(events, 'checkpoints-local', 1);
        const row = events.prepare(`SELECT meta FROM events WHERE ${log}`).get('checkpoints-local') as { meta: string };
        const { mac: _, process: __, ...meta } = JSON.parse(row.meta) as JsonObject;
        const data = { size: 0, through: 0, checkpoint: null, origin: 'minds.example/audit/local/2', reason: 'x' };
        events
          .prepare(`UPDATE events SET type = 'LogRestarted', data = ?, meta = ? WHERE ${log}`)
          .run(JSON.stringify(data), JSON.stringify(meta), 'checkpoints-local');
        events.prepare('DELETE FROM open_processes').run();
      },
      env,
    );
    const stream = 'checkpoints-local';
    for (const [path, body] of [
      ['/audit/checkpoints', {}],
      ['/audit/log/restart', { reason: 'the log was lost' }],
    ] as const) {
      const refused = await attacked.api.post(path, body);
      expect([refused.status, refused.body]).toMatchObject([
        409,
        { error: { code: 'CHAIN_BROKEN', details: { stream, revision: 0 } } },
      ]);
    }
  });

  it('that forges events leaves their minds out of the log, and stops no other [10.5y]', async () => {
    await using more = await startAttacked(server, () => undefined);
    for (const npc of ['gatekeeper', 'odo']) await more.api.post(`/npcs/${npc}/memory`, { text: 'Later.' });
    await using attacked = await startAttacked(
      { dataDir: join(more.folder, 'data'), ownerKey: server.ownerKey },
      (events) => {
        const odo = "stream = (SELECT id FROM streams WHERE name = 'npc-local.odo')";
        const last = `${odo} AND revision = (SELECT max(revision) FROM events WHERE ${odo})`;
        events.prepare(`UPDATE events SET meta = json_set(meta, '$.hash', 5) WHERE ${last}`).run();
        editEvent(events, MIND, 6, (data) => data.replace('Later.', 'Never.'));
      },
    );
    await attacked.api.post('/npcs/gatekeeper/memory', { text: 'A good event.' });
    await attacked.api.post('/npcs/other/memory', { text: 'Another mind.' });
    expect((await attacked.anima('checkpoint')).code).toBe(0);
    // The newest round has no head of the first two.
    const proofs = ['gatekeeper', 'odo', 'other'].map((npc) => attacked.api.get(`/npcs/${npc}/audit/proof`));
    expect((await Promise.all(proofs)).map(({ status }) => status)).toEqual([404, 404, 200]);
  });

  it('that breaks the way to a receiver is reported by each checkpoint and each audit [10.5i]', async () => {
    await using attacked = await startAttacked(server, () => undefined, {
      ANIMA_CHECKPOINT_URL: 'file:///nonexistent/notes',
    });
    await attacked.api.post('/npcs/odo/memory', { text: 'A loud night.' });
    for (const word of ['checkpoint', 'audit']) {
      const said = await attacked.anima(word);
      expect([said.code, said.stderr]).toEqual([0, expect.stringMatching(/^Not published: .*ENOENT/)]);
    }
    expect(attacked.output()).toContain('Failed to publish a checkpoint');
    expect((await attacked.api.get('/metrics')).text).toContain('anima_checkpoint_hand_on_failures_total 1');
  });

  it('that edits a second event is not covered by the acknowledgement of the first [10.5o, 10.5p]', async () => {
    await using first = await startAttacked(server, (events) =>
      editEvent(events, MIND, 2, (data) => data.replace('Two.', 'Six.')),
    );
    // The command asks for a reason, which the route does without.
    expect((await first.api.post('/npcs/gatekeeper/chain-breaks', {})).status).toBe(200);
    const dataDir = `${first.folder}/data`;
    await using second = await startAttacked({ dataDir, ownerKey: server.ownerKey }, (events) =>
      editEvent(events, MIND, 4, (data) => data.replace('Three.', 'Nine.')),
    );
    const { code, stdout } = await second.anima('audit', '--accept-acknowledged');
    expect([code, stdout.split('\n').slice(0, -1)]).toEqual([
      1,
      [
        expect.stringMatching(/^gatekeeper {2}revision 2: .* \(acknowledged by .*: no reason was given\)$/),
        'gatekeeper  revision 4: its content does not match its hash',
      ],
    ]);
  });

  it('that renames an NPC is named under both names [10.5m]', async () => {
    await using attacked = await startAttacked(server, (events) =>
      events.prepare('UPDATE streams SET name = ? WHERE name = ?').run('npc-local.somebody', MIND),
    );
    const { code, stdout } = await attacked.anima('audit');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^somebody {2}revision 0: the log was made without it/m);
    expect(stdout).toMatch(/^gatekeeper {2}revision \d+: it is in the log, but its stream is missing$/m);
  });

  it('that changes a rule is named [10.5a, 10.5m]', async () => {
    await using attacked = await startAttacked(server, (events) => {
      editEvent(events, 'ruleset-local.shop', 0, (data) => data.replace('gifts', 'sales'));
    });
    const { code, stdout } = await attacked.anima('audit');
    expect([code, stdout]).toEqual([1, 'ruleset-local.shop  revision 0: its content does not match its hash\n']);
  });

  it('that changes the holder of a key leaves the tenant without keys, and is named in the log [11.4p]', async () => {
    await using attacked = await startAttacked(server, (events) => {
      editEvent(events, 'tenant-local', 1, (data) => data.replace('"owner"', '"nobody"'));
    });
    expect((await attacked.api.get('/npcs')).status).toBe(401);
    const refused = attacked
      .output()
      .split('\n')
      .find((line) => line.includes('Refusing the keys of a tenant'));
    expect(JSON.parse(refused ?? '{}')).toMatchObject({ stream: 'tenant-local', revision: 1 });
  });

  it('that moves a mind or copies one below the first position is named [10.5m]', async () => {
    const ofStream = 'WHERE stream = (SELECT id FROM streams WHERE name = ?)';
    await using attacked = await startAttacked(server, (events) => {
      editEvent(events, MIND, 2, (data) => data.replace('Two.', 'Six.'));
      events.prepare(`UPDATE events SET position = position - 9007199254740000 ${ofStream}`).run(MIND);
      events.prepare('INSERT INTO streams (name) VALUES (?)').run('npc-local.villain');
      events
        .prepare(
          `INSERT INTO events SELECT position - 1000, (SELECT id FROM streams WHERE name = ?), revision, 'f' || substr(id, 2), type, data, meta FROM events ${ofStream}`,
        )
        .run('npc-local.villain', 'npc-local.odo');
    });
    const { code, stdout } = await attacked.anima('audit');
    expect(code).toBe(1);
    expect(stdout).toContain('gatekeeper  revision 2: its content does not match its hash\n');
    for (const npcId of ['gatekeeper', 'villain'])
      expect(stdout).toContain(`${npcId}  revision 0: it is at a position of the global order that no server uses\n`);
    const named = await attacked.anima('audit', 'gatekeeper');
    expect([named.code, named.stdout]).toEqual([1, expect.stringContaining('that no server uses')]);
    expect(codeOf(await attacked.api.post('/audit/verify', { npcIds: [] }))).toBe('SCHEMA_INVALID');
  });

  it('that stores JSON which no server records blinds no audit, and is named [10.5ab, 10.7e, 10.13c]', async () => {
    const changes: readonly (readonly ['data' | 'meta', (text: string) => string])[] = [
      ['data', (text) => text.replace('{', String.raw`{"x":"\ud800",`)],
      ['data', (text) => text.replace('{', '{"x":1e999,')],
      ['meta', (text) => text.replace('"schemaVersion":1', '"schemaVersion":99')],
      ['meta', (text) => text.replace(/"hash":"\w+"/, '"hash":5')],
      ['meta', () => 'null'],
    ];
    await using attacked = await startAttacked(server, (events) => {
      const which = 'WHERE stream = (SELECT id FROM streams WHERE name = ?) AND revision = ?';
      for (const [n, [column, change]] of changes.entries()) {
        const row = events.prepare(`SELECT ${column} AS text FROM events ${which}`).get(MIND, n + 1);
        const { text } = row as { readonly text: string };
        events.prepare(`UPDATE events SET ${column} = ? ${which}`).run(change(text), MIND, n + 1);
      }
      events.prepare(`UPDATE events SET data = 'null' ${which}`).run('npc-local.odo', 1);
    });
    const { anima, api } = attacked;
    const { code, stdout } = await anima('audit');
    const lines = [1, 2, 3, 4, 5].map((n) => `gatekeeper  revision ${String(n)}: its content does not match its hash`);
    expect([code, stdout.split('\n')]).toEqual([
      1,
      expect.arrayContaining([...lines, 'odo  revision 1: its content does not match its hash']),
    ]);
    expect((await anima('audit', 'odo')).code).toBe(1);
    for (const npcId of ['gatekeeper', 'odo']) {
      const chain = await anima('chain', npcId);
      expect([chain.code, chain.stderr]).toEqual([1, expect.stringContaining('The hash chain is broken')]);
      const { status, body } = await api.get(`/npcs/${npcId}/history`);
      const broken = (body as { events: readonly { readonly broken?: true }[] }).events.map(
        (one) => one.broken === true,
      );
      expect([status, broken]).toEqual([200, broken.map((_, n) => n > 0)]);
    }
  });

  it('that writes an acknowledgement of its own is not believed, and is named [10.5o, 10.5aa]', async () => {
    await using attacked = await startAttacked(server, (events) => {
      editEvent(events, MIND, 2, (data) => data.replace('Two.', 'Six.'));
      const rows = events
        .prepare(
          'SELECT stream, revision, data, meta FROM events WHERE stream = (SELECT id FROM streams WHERE name = ?)',
        )
        .all(MIND) as readonly { stream: number; revision: number; data: string; meta: string }[];
      const stored = rows.map(({ meta }) => JSON.parse(meta) as RecordedEvent['meta']);
      const typeAt = events.prepare('SELECT id, type FROM events WHERE stream = ? AND revision = ?');
      const edited = {
        ...(typeAt.get(rows[2]?.stream ?? 0, 2) as { id: string; type: string }),
        stream: MIND,
        revision: 2,
      };
      const computed = sha256Hex(
        hashInput({
          ...edited,
          data: JSON.parse(rows[2]?.data ?? '') as JsonObject,
          meta: stored[2] as RecordedEvent['meta'],
        }),
      );
      const { mac: _, process: __, ...last } = stored.at(-1) as RecordedEvent['meta'];
      const data = { revision: 2, member: 'hash', stored: stored[2]?.hash ?? '', computed, reason: 'a disk fault' };
      const meta = { ...last, prevHash: last.hash };
      const forged = { stream: MIND, revision: rows.length, id: randomUUID(), type: 'ChainBreakRecorded', data, meta };
      events
        .prepare('INSERT INTO events (stream, revision, id, type, data, meta) VALUES (?, ?, ?, ?, ?, ?)')
        .run(
          ...([rows[0]?.stream ?? 0, forged.revision, forged.id, forged.type, JSON.stringify(data)] as const),
          JSON.stringify({ ...meta, hash: sha256Hex(hashInput(forged)) }),
        );
    });
    const { code, stdout } = await attacked.anima('audit', '--accept-acknowledged');
    expect([code, stdout]).toEqual([
      1,
      'gatekeeper  revision 2: its content does not match its hash\n' +
        'gatekeeper  revision 6: it was not recorded by this server: its seal is missing or does not fit\n',
    ]);
    expect((await attacked.anima('chain', 'gatekeeper')).stderr).toContain('1 not acknowledged');
  });

  it('that deletes a mind from the list of NPCs is named [10.5m]', async () => {
    await using attacked = await startAttacked(server, (_, { reads }) => {
      const tables = reads.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%key TEXT NOT NULL UNIQUE%'",
      );
      for (const { name } of tables.all() as { readonly name: string }[])
        reads.prepare(`DELETE FROM ${name} WHERE key = ?`).run(MIND);
      // How far each read model is with this mind.
      const progress = reads.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'progress_%'");
      const deleted = (progress.all() as { readonly name: string }[]).map(
        ({ name }) => reads.prepare(`DELETE FROM ${name} WHERE stream = ?`).run(MIND).changes,
      );
      expect(deleted.some((count) => count > 0)).toBe(true);
    });
    expect((await attacked.anima('audit')).stdout).toBe(
      'gatekeeper  revision 0: the list of NPCs lacks it: "anima rebuild" makes the read models anew\n',
    );
  });
});
