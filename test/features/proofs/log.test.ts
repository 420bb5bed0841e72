import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { bundleOf, consistencyPath, proveMind } from '../../../src/features/proofs/bundle.js';
import { checkpointEffects, handOnCheckpoints } from '../../../activities/effects/checkpoint.js';
import { gatherHeads } from '../../../src/features/proofs/gather-heads.js';
import { type CheckpointAt, checkpointOfSize, logEventOf } from '../../../src/features/proofs/log.js';
import { logFold } from '../../../src/features/proofs/log-fold.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { auditMinds } from '../../../src/features/proofs/verify-log.js';
import { readCheckpoint } from '../../../src/features/proofs/domain/checkpoint.js';
import { fromHex } from '../../../src/features/proofs/domain/edge.js';
import { type Leaf, leafHash } from '../../../src/features/proofs/domain/leaf.js';
import { isIncluded, merkleRoot } from '../../../src/kernel/crypto/merkle.js';
import { isConsistent } from '../../../src/features/proofs/domain/proofs.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { GENESIS_HASH, hashInput } from '../../../src/kernel/streams/hash-chain.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';
import { ghostMindStream, logStream, npcStream } from '../../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { LOG_TENANT, openLog } from '../../support/logs.js';
import { seededRandom } from '../../support/seeded-random.js';
import { event } from '../../support/events.js';
import { itLong } from '../../support/long.js';
import { storeWith } from '../../support/streams.js';

const LOG = logStream(LOG_TENANT);
const allOf = async (store: MemoryEventStore, stream: string): Promise<readonly RecordedEvent[]> => {
  const found: RecordedEvent[] = [];
  for (let from = 0; ; from = found.length) {
    const { events } = await store.read(stream, { direction: 'forwards', from, limit: 500 });
    if (events.length === 0) return found;
    found.push(...events);
  }
};
const leavesOf = async (store: MemoryEventStore): Promise<readonly Leaf[]> =>
  (await allOf(store, LOG)).map(logEventOf).flatMap((one) => (one.type === 'LeavesLogged' ? one.data.leaves : []));
const systemClock = { monotonicMs: () => 0 };

describe('a log', () => {
  itLong(
    'grows like a naive tree, and proves every size and every mind from few events [10.5a, 10.5d, 10.5g, 10.5h]',
    async () => {
      const random = seededRandom('log');
      const counts: number[] = [];
      const checkpoints: CheckpointAt[] = [];
      await using log = await openLog();
      for (let round = 0; round < 12; round += 1) {
        const [byte = 0] = random.bytes(1);
        for (let mind = 0; mind < 1 + (byte % 20); mind += 1) await log.write(`m${String(mind)}`, { round });
        checkpoints.push(await log.checkpoint());
      }
      const leaves = await leavesOf(log.events);
      const rootAt = (size: number): Uint8Array => drained(merkleRoot(leaves.slice(0, size).map(leafHash)));
      for (const { size, root } of checkpoints) expect(Buffer.from(rootAt(size)).toString('hex')).toBe(root);
      const last = checkpoints.at(-1) as CheckpointAt;
      expect(last.size).toBe(leaves.length);
      let reads = 0;
      const counting: Pick<MemoryEventStore, 'read'> = {
        read: (...call) => {
          reads += 1;
          return log.events.read(...call);
        },
      };
      for (const checkpoint of checkpoints) {
        expect(await checkpointOfSize(counting, LOG_TENANT, checkpoint.size)).toEqual(checkpoint);
        for (let from = 1; from <= checkpoint.size; from += 1) {
          const path = await consistencyPath(counting, LOG_TENANT, checkpoint, from);
          const trees = {
            earlier: from,
            earlierRoot: rootAt(from),
            size: checkpoint.size,
            root: fromHex(checkpoint.root),
          };
          expect(isConsistent({ ...trees, path: path.map(fromHex) })).toBe(true);
        }
      }
      for (let mind = 0; mind < 20; mind += 1) {
        const stream = npcStream(LOG_TENANT, `m${String(mind)}`);
        const { lastRevision } = await log.events.read(stream, { direction: 'backwards', limit: 1 });
        for (let upTo = 0; upTo <= lastRevision; upTo += 1) {
          for (const checkpoint of checkpoints) {
            reads = 0;
            const proof = await proveMind(
              counting,
              { tenant: LOG_TENANT, npcId: `m${String(mind)}` },
              upTo,
              checkpoint,
            );
            counts.push(reads);
            const wanted = leaves
              .slice(0, checkpoint.size)
              .findLast((one) => one.stream === stream && one.revision <= upTo);
            expect(proof?.leaf).toEqual(wanted);
            if (proof === null) continue;
            const { leaf, index: place, size, path } = proof;
            const inclusion = { leaf: leafHash(leaf), place, leaves: size, path: path.map(fromHex) };
            expect(isIncluded(inclusion, fromHex(checkpoint.root))).toBe(true);
          }
        }
      }
      expect(Math.max(...counts)).toBeLessThan(45);
    },
    60_000,
  );

  it('holds one head of each mind of its tenant that was written to in a round, in batches [10.5a, 10.5b]', async () => {
    await using log = await openLog();
    const { events } = log;
    const to = async (stream: string, name: string): Promise<void> => {
      const { lastRevision } = await events.read(stream, { direction: 'backwards', limit: 1 });
      await events.append(stream, lastRevision < 0 ? 'no_stream' : lastRevision, [event(name)]);
    };
    for (let round = 0; round < 3; round += 1)
      for (let mind = 0; mind < 700; mind += 1)
        await to(npcStream(LOG_TENANT, `m${String(mind)}`), `e${String(round)} ${String(mind)}`);
    await to(npcStream('other', 'm1'), 'a');
    await to(ghostMindStream(LOG_TENANT, 'g1'), 'b');
    await to(npcStream(`${LOG_TENANT}s`, 'm1'), 'c');
    const made = await log.checkpoint();
    expect([made.size, made.leaves]).toEqual([700, 700]);
    const leaves = await leavesOf(events);
    expect(new Set(leaves.map(({ stream }) => stream)).size).toBe(700);
    expect(leaves.every(({ revision }) => revision === 2)).toBe(true);
    const batches = (await allOf(events, LOG)).filter(({ type }) => type === 'LeavesLogged');
    expect(batches.length).toBeGreaterThan(1);
    expect(Math.max(...batches.map(({ data }) => JSON.stringify(data).length))).toBeLessThan(500_000);
    const again = await log.checkpoint();
    expect(again).toEqual(made);
  });

  it('includes only events up to its end, and leaves the rest to the next round', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    await log.write('b', { n: 1 });
    const until = await log.events.lastPosition();
    await log.write('a', { n: 2 });
    const range = { through: 0, until };
    const gathered = await gatherHeads(
      { events: log.events, clock: systemClock },
      LOG_TENANT,
      range,
      new AbortController().signal,
    );
    expect(gathered).toMatchObject({ through: until, leaves: [{ revision: 0 }, { revision: 0 }] });
  });

  it('has a legal name in notes, whatever the address of the server [10.5c]', async () => {
    await using log = await openLog({ issuer: 'https://minds.example/a+b' });
    await log.write('a', { n: 1 });
    const { note, origin } = await log.checkpoint();
    expect(readCheckpoint(note)?.checkpoint.origin).toBe(origin);
  });

  it('has the address of the server at its first checkpoint as its origin, without the scheme [10.5c]', async () => {
    const events = new MemoryEventStore();
    const originAt = async (issuer: string): Promise<string> => {
      await using log = await openLog({ issuer, events });
      await log.write('a', { at: issuer });
      return (await log.checkpoint()).origin;
    };
    const origin = `minds.example/base/audit/${LOG_TENANT}`;
    expect(await originAt('https://minds.example/base')).toBe(origin);
    expect(await originAt('https://moved.example')).toBe(origin);
  });

  it('refuses a bundle that cannot extend a size, before any output', async () => {
    await using log = await openLog();
    await log.write('a', { text: 'x'.repeat(100_000) }, { n: 2 });
    await log.checkpoint();
    const asked = { tenant: LOG_TENANT, npcId: 'a', from: 0, to: 1, extends: 2, madeAt: '', keys: [] };
    await expect(bundleOf(log.events, asked).next()).rejects.toMatchObject({ code: 'PROOF_NOT_FOUND' });
  });

  it('is signed with the key of its time', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    const { kid } = await log.checkpoint();
    expect(kid).toBe(log.keys.current.kid);
  });

  it('records what a slow receiver accepted, and leaves the rest to the next round', async () => {
    await using log = await openLog({ receiver: { handOn: () => Promise.reject(new Error('the receiver is away')) } });
    for (let n = 0; n < 40; n += 1) {
      await log.write('a', { n });
      await log.checkpoint();
    }
    const { signal } = new AbortController();
    let nowMs = 0;
    const handed: string[] = [];
    const handOn = (note: string): Promise<void> => {
      nowMs += 4_000;
      handed.push(note);
      return Promise.resolve();
    };
    const slow = { events: log.events, receiver: { handOn }, clock: { monotonicMs: () => nowMs } };
    const first = await handOnCheckpoints(slow, LOG_TENANT, 0, signal);
    // A round has two minutes for it.
    expect(nowMs).toBeLessThan(60_000);
    expect(first).toMatchObject({ upTo: handed.length, failed: 'the receiver is too slow' });
    let { upTo } = first;
    while (upTo < 40) ({ upTo } = await handOnCheckpoints(slow, LOG_TENANT, upTo, signal));
    expect(new Set(handed).size).toBe(40);
  });

  it('signs nothing if it does not extend its last checkpoint [10.5d]', async () => {
    const events = new MemoryEventStore();
    await using log = await openLog({ events });
    await log.write('a', { n: 1 });
    const { root } = await log.checkpoint();
    await log.write('b', { n: 1 });
    await log.checkpoint();
    const writers = new StreamWriters(events, { now: () => new Date() } as never);
    const { state } = await writers.current(LOG, logFold);
    const sign = (last: typeof state.last) =>
      checkpointEffects({
        ports: { events, clock: log.rounds.clock },
        writers: { current: () => Promise.resolve({ state: { ...state, last } }) } as never,
        signingKeys: log.keys,
        issuer: 'https://minds.example',
        checkpointReceiver: null,
      }).effect(
        { process: 'checkpoint', stream: LOG, id: 'c' },
        { id: 'signing', name: 'signing', args: { handsOn: false } },
        new AbortController().signal,
      );
    const first = state.last === null ? null : { ...state.last, size: 1, root };
    await expect(sign(first)).resolves.toMatchObject({ type: 'signed', size: 2 });
    const forged = first && { ...first, root: 'f'.repeat(64) };
    await expect(sign(forged)).rejects.toThrow('does not extend its checkpoint of size 1');
  });

  it('publishes each checkpoint, and a failed one together with the next [10.5i]', async () => {
    const handed: string[] = [];
    let isAway = true;
    const handOn = (note: string): Promise<void> => {
      if (isAway) return Promise.reject(new Error('the receiver is away'));
      handed.push(note);
      return Promise.resolve();
    };
    await using log = await openLog({ receiver: { handOn } });
    await log.write('a', { n: 1 });
    const first = await log.checkpoint();
    expect(handed).toEqual([]);
    isAway = false;
    await log.write('a', { n: 2 });
    const second = await log.checkpoint();
    expect(handed).toEqual([first.note, second.note]);
    await log.write('a', { n: 3 });
    const third = await log.checkpoint();
    expect(handed).toEqual([first.note, second.note, third.note]);
  });
});

describe('an audit', () => {
  /** A store whose events can be changed, as anyone with write access to the files can. */
  const tampered = async (change: (store: MemoryEventStore) => MemoryEventStore) => {
    await using log = await openLog();
    for (const mind of ['a', 'b', 'c']) await log.write(mind, { n: 1 }, { n: 2 }, { n: 3 });
    await log.checkpoint();
    const events = change(log.events);
    const readModels = {
      list: () =>
        Promise.resolve({
          rows: ['a', 'b', 'c'].map((npcId) => ({ key: npcId, order: npcId, row: { npcId } })),
          more: false,
        }),
    };
    const { writers, keys: signingKeys } = log;
    return await auditMinds({ events, writers, readModels, signingKeys }, LOG_TENANT, { npcIds: ['a', 'b', 'c'] });
  };
  const reading =
    (edit: (one: RecordedEvent) => RecordedEvent | null) =>
    (store: MemoryEventStore): MemoryEventStore =>
      new Proxy(store, {
        get: (target, name) =>
          name === 'read'
            ? async (stream: string, range: Parameters<MemoryEventStore['read']>[1]) => {
                const page = await target.read(stream, range);
                const whole = await allOf(target, stream);
                const lastRevision = whole.map(edit).filter((one) => one !== null).length - 1;
                return { lastRevision, events: page.events.map(edit).filter((one) => one !== null) };
              }
            : (Reflect.get(target, name) as unknown),
      });
  const stream = npcStream(LOG_TENANT, 'b');

  it('finds nothing in an intact store', async () => {
    expect(await tampered((store) => store)).toMatchObject({ valid: true, streams: 3, broken: [] });
  });

  it('names a changed event, a truncated tail, and a removed mind [10.5m]', async () => {
    const changed = await tampered(
      reading((one) => (one.stream === stream && one.revision === 1 ? { ...one, data: { n: 9 } } : one)),
    );
    expect(changed.broken).toEqual([{ npcId: 'b', revision: 1, reason: 'its content does not match its hash' }]);
    const cut = await tampered(reading((one) => (one.stream === stream && one.revision > 1 ? null : one)));
    expect(cut.broken).toEqual([
      {
        npcId: 'b',
        revision: 2,
        reason: 'the stream was truncated: the log contains its revision 2, but it ends at 1',
      },
    ]);
    const removed = await tampered(reading((one) => (one.stream === stream ? null : one)));
    expect(removed.broken).toContainEqual({
      npcId: 'b',
      revision: 2,
      reason: 'the NPC is in the log, but its stream is missing',
    });
  });

  it('names a malformed event of the log', async () => {
    for (const [type, reason] of [
      ['LeavesLogged', 'it is not a batch of leaves'],
      ['CheckpointSigned', 'the root of the checkpoint does not match the leaves before it'],
    ] as const) {
      const { broken } = await tampered(reading((one) => (one.type === type ? { ...one, data: {} } : one)));
      expect(broken).toContainEqual({ npcId: null, revision: type === 'LeavesLogged' ? 1 : 2, reason });
    }
  });

  it('checks a mind that was named twice only once, and refuses a cursor that it did not issue', async () => {
    const log = await openLog();
    await log.write('a', { n: 1 }, { n: 2 });
    const readModels = { list: () => Promise.reject(new Error('the minds are named')) };
    const deps = { events: log.events, writers: log.writers, readModels, signingKeys: log.keys };
    expect(await auditMinds(deps, LOG_TENANT, { npcIds: ['a', 'a'] })).toMatchObject({ events: 2, valid: true });
    for (const place of [{ npcId: 5, from: 0 }, { from: 0 }, { npcId: 'a', from: -5 }, { log: -1 }, 5, null]) {
      const after = Buffer.from(JSON.stringify(place)).toString('base64url');
      await expect(auditMinds(deps, LOG_TENANT, { npcIds: ['a'], after })).rejects.toMatchObject({
        code: 'SCHEMA_INVALID',
      });
    }
    await log[Symbol.asyncDispose]();
  });

  itLong('ends a response near 200,000 events, and continues from its cursor [10.5n]', async () => {
    await using log = await openLog();
    // One chain, shown as that of each of these minds.
    const [events, minds] = [20_000, 12];
    const intact: RecordedEvent[] = [];
    const template = event('endless');
    let prevHash = GENESIS_HASH;
    for (let revision = 0; revision < events; revision += 1) {
      const unhashed = { ...template, stream: npcStream(LOG_TENANT, 'm'), position: revision + 1, revision };
      const meta = { ...template.meta, prevHash };
      prevHash = sha256Hex(hashInput({ ...unhashed, meta }));
      intact.push({ ...unhashed, meta: { ...meta, hash: prevHash } });
    }
    const read: MemoryEventStore['read'] = (stream, range) =>
      stream.startsWith('npc-')
        ? Promise.resolve({
            events:
              range.direction === 'backwards'
                ? intact.slice(-1)
                : intact.slice(range.from ?? 0, (range.from ?? 0) + range.limit),
            lastRevision: events - 1,
          })
        : log.events.read(stream, range);
    const readModels = { list: () => Promise.reject(new Error('the minds are named')) };
    const deps = { events: storeWith(log.events, { read }), writers: log.writers, readModels, signingKeys: log.keys };
    const npcIds = Array.from({ length: minds }, (_, index) => `m${String(index)}`);
    const first = await auditMinds(deps, LOG_TENANT, { npcIds });
    expect(first.broken).toEqual([]);
    expect([first.events >= 200_000, first.events < 220_000]).toEqual([true, true]);
    const rest = await auditMinds(deps, LOG_TENANT, { npcIds, after: first.next ?? '' });
    expect([first.events + rest.events, rest.next]).toEqual([events * minds, undefined]);
  });

  it('ends a response after 200 problems, and continues from its cursor [10.5n]', async () => {
    await using log = await openLog();
    const readModels = { list: () => Promise.reject(new Error('the minds are named')) };
    const deps = { events: log.events, writers: log.writers, readModels, signingKeys: log.keys };
    const npcIds = Array.from({ length: 250 }, (_, index) => `nobody-${String(index)}`);
    const first = await auditMinds(deps, LOG_TENANT, { npcIds });
    expect([first.valid, first.broken.length]).toEqual([false, 200]);
    const rest = await auditMinds(deps, LOG_TENANT, { npcIds, after: first.next ?? '' });
    expect(rest.next).toBeUndefined();
    expect([...first.broken, ...rest.broken].map(({ npcId }) => npcId)).toEqual(npcIds);
  });

  it('names changes of the log itself [10.5m]', async () => {
    const edited = await tampered(
      reading((one) =>
        one.type === 'LeavesLogged'
          ? { ...one, data: { ...one.data, leaves: (one.data['leaves'] as Leaf[]).slice(1) } }
          : one,
      ),
    );
    const reasons = edited.broken.filter(({ npcId }) => npcId === null).map(({ reason }) => reason);
    expect(reasons).toEqual([
      'the hash chain of the log is broken',
      'the tree of the log does not match its leaves',
      'the root of the checkpoint does not match the leaves before it',
    ]);
    const signed = await tampered(
      reading((one) =>
        one.type === 'CheckpointSigned' ? { ...one, data: { ...one.data, kid: 'x'.repeat(43) } } : one,
      ),
    );
    expect(signed.broken.map(({ reason }) => reason)).toContain('the note is not signed by the key that it names');
  });
});
