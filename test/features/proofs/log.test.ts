import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { bundleOf, consistencyPath, proveMind } from '../../../src/features/proofs/bundle.js';
import { checkpointEffects, handOnCheckpoints } from '../../../activities/effects/checkpoint.js';
import { gatherHeads } from '../../../src/features/proofs/gather-heads.js';
import { createGoodRoots } from '../../../src/features/proofs/good-roots.js';
import { type CheckpointAt, checkpointOfSize, logEventOf } from '../../../src/features/proofs/log.js';
import { logStatus } from '../../../src/features/proofs/log-status.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { logFold } from '../../../src/features/proofs/log-fold.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { ORDER_READ } from '../../../src/features/proofs/audit-order.js';
import { createUpgradeEnd } from '../../../src/features/proofs/from-before.js';
import { defined } from '../../../src/kernel/base/defined.js';
import type { AuditAnswer } from '../../../src/features/proofs/audit-findings.js';
import { type AuditDeps, auditTenant } from '../../../src/features/proofs/audit-tenant.js';
import { readCheckpoint } from '../../../src/features/proofs/domain/checkpoint.js';
import { fromHex, toHex } from '../../../src/features/proofs/domain/edge.js';
import { loggedKinds, logOf } from '../../../src/features/proofs/domain/logged-streams.js';
import { eventHash, type Leaf, leafHash } from '../../../src/features/proofs/domain/leaf.js';
import { isIncluded, merkleRoot } from '../../../src/kernel/crypto/merkle.js';
import { isConsistent } from '../../../src/features/proofs/domain/proofs.js';
import { Rejection } from '../../../src/kernel/base/rejection.js';
import { drained } from '../../../src/kernel/base/sliced.js';
import { GENESIS_HASH } from '../../../src/kernel/streams/hash-chain.js';
import { hashInput } from '../../support/hash-input.js';
import { sha256Hex } from '../../../src/kernel/crypto/sha256.js';
import {
  accessStream,
  custodyStream,
  ghostMindStream,
  ghostStream,
  levelStream,
  logStream,
  npcStream,
  rulesetStream,
  tenantStream,
} from '../../../src/kernel/base/stream-names.js';
import type { EventStore, RecordedEvent } from '../../../src/ports/event-store.js';
import type { KeptCheckpoint } from '../../../src/ports/checkpoint-receiver.js';
import { LOG_TENANT, openLog } from '../../support/logs.js';
import { checksOf, seals } from '../../support/seals.js';
import { rotatingKeys } from '../../support/souls.js';
import { seededRandom } from '../../support/seeded-random.js';
import { event, type EventOptions } from '../../support/events.js';
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
const still = { monotonicMs: () => 0 };
/** Read models that list every mind. */
const allListed = { get: () => Promise.resolve({}), reachedPosition: () => Promise.resolve(true) };
/** The dependencies of an audit of a log, in a store that was sealed from its beginning. */
const auditing = (log: Awaited<ReturnType<typeof openLog>>, events: EventStore = log.events): AuditDeps => ({
  ...{ events, writers: log.writers, readModels: allListed, signingKeys: log.keys },
  ...{ checks: checksOf(events), upgradeEnd: null },
});

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

  it('holds rule sets, levels, keys and reported ghost sessions as well, and the server’s own streams for local [10.5a]', async () => {
    await using log = await openLog();
    const { events } = log;
    const held = [rulesetStream(LOG_TENANT, 'shop'), levelStream(LOG_TENANT, 'cave'), tenantStream(LOG_TENANT)];
    const others = ['tenants', 'signing-keys', rulesetStream('other', 'shop'), custodyStream('root')];
    for (const stream of [...held, ...others]) await events.append(stream, 'no_stream', [event(`of ${stream}`)]);
    const session = ghostStream(LOG_TENANT, 'g1');
    await events.append(session, 'no_stream', [event('begun')]);
    await log.checkpoint();
    expect((await leavesOf(events)).map(({ stream }) => stream)).toEqual(held);
    await events.append(session, 0, [{ ...event('reported'), type: 'GhostReported' }]);
    await log.checkpoint();
    expect((await leavesOf(events)).at(-1)).toMatchObject({ stream: session, from: 0, revision: 1 });
    expect(['tenants', 'signing-keys'].map((stream) => logOf(stream)?.tenant)).toEqual(['local', 'local']);
  });

  it('has a checkpoint on request because of what was written, and then holds the accesses before it too [10.5f]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    const first = await log.checkpoint();
    const accesses = accessStream(LOG_TENANT);
    await log.events.append(accesses, 'no_stream', [event('accessed')]);
    expect(await log.checkpoint()).toEqual(first);
    await log.write('a', { n: 2 });
    expect(await log.checkpoint()).toMatchObject({ leaves: 2 });
    expect((await leavesOf(log.events)).map(({ stream }) => stream)).toContain(accesses);
  });

  it('covers the events of a stream since its last head with a root of their hashes [10.5a]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 }, { n: 2 }, { n: 3 });
    await log.checkpoint();
    await log.write('a', { n: 4 }, { n: 5 });
    await log.checkpoint();
    const hashes = (await allOf(log.events, npcStream(LOG_TENANT, 'a'))).map(({ meta }) => eventHash(meta.hash));
    const rootFrom = (from: number, to: number) =>
      Buffer.from(drained(merkleRoot(hashes.slice(from, to)))).toString('hex');
    expect((await leavesOf(log.events)).map(({ from, revision, events }) => [from, revision, events])).toEqual([
      [0, 2, rootFrom(0, 3)],
      [3, 4, rootFrom(3, 5)],
    ]);
  });

  it('is completed by the first round of a server that logs more kinds of streams [10.5w]', async () => {
    /** Stores what an older server would: rounds and batches that name no kinds. */
    class OlderStore extends MemoryEventStore {
      isOlder = true;
      override append(...[stream, expected, drafts]: Parameters<MemoryEventStore['append']>) {
        const older = drafts.map((draft) => {
          const { kinds: _, ...data } = draft.data;
          return stream === LOG && this.isOlder ? { ...draft, data } : draft;
        });
        return super.append(stream, expected, older);
      }
    }
    const events = new OlderStore();
    const shop = rulesetStream(LOG_TENANT, 'shop');
    await events.append(shop, 'no_stream', [event('first'), event('second')]);
    {
      await using older = await openLog({ events });
      await older.write('a', { n: 1 });
      expect(await older.checkpoint()).toMatchObject({ size: 2 });
    }
    events.isOlder = false;
    await using log = await openLog({ events });
    expect(await log.checkpoint()).toMatchObject({ size: 3, leaves: 1 });
    expect((await leavesOf(events)).at(-1)).toMatchObject({ stream: shop, from: 0, revision: 1 });
    const asked = { tenant: LOG_TENANT, npcId: 'a' };
    const newest = await log.checkpoint();
    expect((await proveMind(events, asked, 0, newest))?.leaf).toMatchObject({ stream: npcStream(LOG_TENANT, 'a') });
    await log.write('a', { n: 2 });
    expect(await log.checkpoint()).toMatchObject({ size: 4, leaves: 1 });
  });

  it('includes only events up to its end, and leaves the rest to the next round', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    await log.write('b', { n: 1 });
    const until = await log.events.lastPosition();
    await log.write('a', { n: 2 });
    const range = { begun: 0, through: 0, until, kinds: loggedKinds, behind: [], caughtUp: 0 };
    const gathered = await gatherHeads(
      { events: log.events, clock: still, roots: createGoodRoots(log.events, checksOf(log.events)) },
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

  it('does not call a history cut that grew while its bundle was made [10.5x]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    await log.checkpoint();
    await log.write('a', { n: 2 });
    await log.checkpoint();
    // The request read revision 0 as the last one.
    const lines = (await log.bundle('a', 0, 0)).split('\n').slice(0, -1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ version: 1, to: 0 });
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ proof: { leaf: { revision: 0 } } });
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
        checks: checksOf(events),
        writers: { current: () => Promise.resolve({ state: { ...state, last } }) } as never,
        signingKeys: log.keys,
        issuer: 'https://minds.example',
        checkpointReceiver: null,
        log: { warn: () => undefined },
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

  it('signs nothing while a larger log of its name was published, and continues under another name [10.5u, 10.5v]', async () => {
    const kept: KeptCheckpoint[] = [];
    const receiver = {
      handOn: (note: string): Promise<void> => {
        const read = readCheckpoint(note);
        if (read !== null) kept.push({ ...read.checkpoint, root: toHex(read.checkpoint.root) });
        return Promise.resolve();
      },
      lastKept: () => Promise.resolve(kept.at(-1) ?? null),
    };
    await using log = await openLog({ receiver });
    await log.write('a', { n: 1 });
    const first = await log.checkpoint();
    kept.push({ ...first, size: 5 });
    await log.write('a', { n: 2 });
    await log.write('b', { n: 1 });
    const ends = await log.events.lastPosition();
    await expect(log.checkpoint()).rejects.toMatchObject({
      code: 'LOG_BEHIND',
      details: { origin: first.origin, size: 1, published: 5 },
    });
    expect(await log.events.lastPosition()).toBe(ends);

    expect(await log.restart('the backup of 12 May was restored')).toMatchObject({
      ...{ origin: `${first.origin}/2`, size: 2 },
    });
    const second = await log.checkpoint();
    expect([second.origin, second.size]).toEqual([`${first.origin}/2`, 4]);
    const [, head] = await leavesOf(log.events);
    expect(head?.stream).toBe(LOG);
    expect((await allOf(log.events, LOG)).find(({ type }) => type === 'LogRestarted')?.data).toMatchObject({
      reason: 'the backup of 12 May was restored',
    });
    // What the log held before can still be proven, under the new name.
    expect(await proveMind(log.events, { tenant: LOG_TENANT, npcId: 'a' }, 0, second)).toMatchObject({ index: 0 });
    const deps = auditing(log);
    expect(await auditTenant(deps, LOG_TENANT, {})).toMatchObject({ valid: true, broken: [] });
    kept.push({ ...second, size: 9 });
    await log.write('a', { n: 3 });
    await expect(log.checkpoint()).rejects.toMatchObject({ code: 'LOG_BEHIND' });
    expect(await log.restart('again')).toMatchObject({ origin: `${first.origin}/3` });
  });

  it('can be restarted before its first checkpoint', async () => {
    await using log = await openLog();
    expect(await log.restart('the log was deleted')).toMatchObject({
      origin: `minds.example/audit/${LOG_TENANT}/2`,
      size: 0,
    });
    await log.write('a', { n: 1 });
    expect((await log.checkpoint()).origin).toBe(`minds.example/audit/${LOG_TENANT}/2`);
  });

  it('takes the time of the last checkpoint if its clock is behind it, and says so [10.5c]', async () => {
    const warnings: string[] = [];
    let behindMs = 0;
    const clock = { ...systemClock, now: () => new Date(Date.now() - behindMs) };
    await using log = await openLog({ clock, log: { warn: (_, message) => void warnings.push(message) } });
    await log.write('a', { n: 1 });
    const first = await log.checkpoint();
    expect([first.clock, warnings]).toEqual([undefined, []]);
    behindMs = 3_600_000;
    await log.write('a', { n: 2 });
    const second = await log.checkpoint();
    expect(second.at).toBe(first.at);
    expect(readCheckpoint(second.note)?.checkpoint.at).toBe(first.at);
    expect(Date.parse(second.clock ?? '')).toBeLessThan(Date.parse(first.at));
    expect(warnings).toEqual([expect.stringContaining('The clock is behind the last checkpoint')]);
  });

  it('tells how publishing ended [10.5i]', async () => {
    let failing = true;
    const handOn = () => (failing ? Promise.reject(new Error('the receiver is away')) : Promise.resolve());
    await using log = await openLog({ receiver: { handOn } });
    expect(await logStatus(log.events, LOG_TENANT)).toBeNull();
    await log.write('a', { n: 1 });
    await log.checkpoint();
    expect(await logStatus(log.events, LOG_TENANT)).toMatchObject({
      handedOn: { upTo: 0, failed: 'the receiver is away' },
    });
    failing = false;
    await log.write('a', { n: 2 });
    await log.checkpoint();
    expect(await logStatus(log.events, LOG_TENANT)).toMatchObject({ size: 2, handedOn: { upTo: 2, failed: null } });
  });

  it('says at once that it was changed, or cannot be read, and signs nothing [10.5f]', async () => {
    const events = new MemoryEventStore();
    await using log = await openLog({ events });
    await log.write('a', { n: 1 });
    await log.write('b', { n: 1 });
    await log.write('c', { n: 1 });
    await log.checkpoint();
    await log.write('d', { n: 1 });
    const read = events.read.bind(events);
    let failure: Error | null = null;
    events.read = async (stream, range) => {
      if (failure !== null && stream === LOG && range.limit === 1 && range.direction === 'forwards') throw failure;
      const page = await read(stream, range);
      const forged = page.events.map((one) => {
        const leaves = one.data['leaves'];
        if (one.type !== 'LeavesLogged' || !Array.isArray(leaves) || leaves.length < 2) return one;
        return { ...one, data: { ...one.data, leaves: leaves.map((leaf) => ({ ...(leaf as Leaf), revision: 9 })) } };
      });
      return { ...page, events: forged };
    };
    const begunMs = performance.now();
    await expect(log.checkpoint()).rejects.toMatchObject({
      code: 'LOG_CHANGED',
      retryAfter: undefined,
      details: { reason: expect.stringContaining('does not extend its checkpoint of size 3') as string },
    });
    failure = new Rejection('STORE_UNAVAILABLE', { message: 'The file events.db is damaged.' });
    await expect(log.checkpoint()).rejects.toThrow('The file events.db is damaged.');
    expect(performance.now() - begunMs).toBeLessThan(10_000);
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
  /** In a store that is being upgraded. */
  const upgradeEnd = () => Promise.resolve({ position: Infinity, revision: Infinity });
  /** A store whose events can be changed, as anyone with write access to the files can. */
  const tampered = async (
    change: (store: MemoryEventStore) => MemoryEventStore,
    named: { readonly npcIds?: readonly string[] } = { npcIds: ['a', 'b', 'c'] },
  ) => {
    await using log = await openLog();
    for (const mind of ['a', 'b', 'c']) await log.write(mind, { n: 1 }, { n: 2 }, { n: 3 });
    await log.checkpoint();
    return await auditTenant(auditing(log, change(log.events)), LOG_TENANT, named);
  };
  const reading =
    (edit: (one: RecordedEvent) => RecordedEvent | null) =>
    (store: MemoryEventStore): MemoryEventStore =>
      new Proxy(store, {
        get: (target, name) =>
          name === 'readAll'
            ? async (...range: Parameters<MemoryEventStore['readAll']>) =>
                (await target.readAll(...range)).map(edit).filter((one) => one !== null)
            : name === 'read'
              ? async (stream: string, range: Parameters<MemoryEventStore['read']>[1]) => {
                  const page = await target.read(stream, range);
                  const whole = await allOf(target, stream);
                  const lastRevision = whole.map(edit).filter((one) => one?.stream === stream).length - 1;
                  return {
                    lastRevision,
                    events: page.events.map(edit).filter((one) => one !== null && one.stream === stream),
                  };
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
    expect(changed.broken).toEqual([
      { stream, npcId: 'b', revision: 1, reason: 'its content does not match its hash', acknowledged: null },
    ]);
    const cut = await tampered(reading((one) => (one.stream === stream && one.revision > 1 ? null : one)));
    expect(cut.broken).toEqual([
      {
        stream,
        npcId: 'b',
        revision: 2,
        reason: 'the stream was truncated: the log contains its revision 2, but it ends at 1',
        acknowledged: null,
      },
    ]);
    const removed = await tampered(reading((one) => (one.stream === stream ? null : one)));
    expect(removed.broken).toContainEqual({
      stream,
      npcId: 'b',
      revision: 2,
      reason: 'it is in the log, but its stream is missing',
      acknowledged: null,
    });
  });

  const whole = {};

  it('looks at every event that the log holds, and finds no fault in an intact store [10.5m]', async () => {
    expect(await tampered((store) => store, whole)).toMatchObject({ valid: true, streams: 3, events: 12, broken: [] });
  });

  it('names a stream under both names if it was renamed [10.5m]', async () => {
    const renamed = await tampered(
      reading((one) => (one.stream === stream ? { ...one, stream: npcStream(LOG_TENANT, 'z') } : one)),
      whole,
    );
    expect(renamed.broken.map(({ npcId, reason }) => [npcId, reason])).toEqual([
      ['z', 'its content does not match its hash'],
      ['z', 'the log was made without it: it was renamed, inserted, moved or changed'],
      ['z', 'its content does not match its hash'],
      ['z', 'its content does not match its hash'],
      ['b', 'it is in the log, but its stream is missing'],
    ]);
  });

  it('names two events that changed places, and an event that nobody logged [10.5m]', async () => {
    const swapped = await tampered(
      reading((one) =>
        one.stream === stream && one.revision > 0 ? { ...one, revision: 3 - one.revision, data: { n: 9 } } : one,
      ),
      whole,
    );
    expect(swapped.broken.map(({ revision, reason }) => [revision, reason])).toContainEqual([
      2,
      'it was stored after revision 0 of its stream',
    ]);
    const beyond = await tampered(
      reading((one) =>
        one.stream === LOG && one.type === 'LeavesLogged'
          ? {
              ...one,
              data: { ...one.data, leaves: (one.data['leaves'] as Leaf[]).filter((leaf) => leaf.stream !== stream) },
            }
          : one,
      ),
      whole,
    );
    expect(beyond.broken).toContainEqual({
      ...{ stream, npcId: 'b', revision: 0, acknowledged: null },
      reason: 'the log was made without it: it was renamed, inserted, moved or changed',
    });
  });

  it('names a mind that the list of NPCs lacks, unless the list is still behind [10.5m]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    const auditWith = (handled: number) => {
      const reachedPosition = (_: unknown, position: number) => Promise.resolve(position <= handled);
      const readModels = { get: () => Promise.resolve(null), reachedPosition };
      return auditTenant({ ...auditing(log), readModels }, LOG_TENANT, {});
    };
    expect((await auditWith(0)).broken).toEqual([]);
    expect((await auditWith(1)).broken).toEqual([
      {
        ...{ stream: npcStream(LOG_TENANT, 'a'), npcId: 'a', revision: 0, acknowledged: null },
        reason: 'the list of NPCs lacks it: "anima rebuild" makes the read models anew',
      },
    ]);
  });

  const FOREIGN = 'it was not recorded by this server: its seal is missing or does not fit';
  /** Appends an event whose hash fits, as a forger without the secret would. */
  const append = async (store: MemoryEventStore, to: string, name: string, options: EventOptions = {}) => {
    const last = (await allOf(store, to)).at(-1);
    const revision = (last?.revision ?? -1) + 1;
    const draft = event(name, options);
    const meta = { ...draft.meta, prevHash: last?.meta.hash ?? GENESIS_HASH };
    const hash = sha256Hex(hashInput({ ...draft, meta, stream: to, revision }));
    await store.append(to, last?.revision ?? 'no_stream', [{ ...draft, meta: { ...meta, hash } }]);
  };
  const foundIn = ({ broken }: AuditAnswer) => broken.map((one) => [one.npcId, one.revision, one.reason]);

  it('names an event without a seal, or with another, even if the log holds a head after it [10.5aa]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    await append(log.events, npcStream(LOG_TENANT, 'a'), 'forged');
    await log.write('a', { n: 2 });
    await append(log.events, npcStream(LOG_TENANT, 'b'), 'other', { meta: { mac: 'x'.repeat(43) } });
    await log.checkpoint();
    const expected = [
      ['a', 1, FOREIGN],
      ['b', 0, FOREIGN],
    ];
    expect(foundIn(await auditTenant(auditing(log), LOG_TENANT, {}))).toEqual(expected);
    expect(foundIn(await auditTenant(auditing(log), LOG_TENANT, { npcIds: ['a', 'b'] }))).toEqual(expected);
  });

  it('names an event of the log without a seal [10.5aa]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    await log.checkpoint();
    await append(log.events, LOG, 'forged');
    expect(foundIn(await auditTenant(auditing(log), LOG_TENANT, {}))).toEqual([[null, 3, FOREIGN]]);
  });

  it('accepts what an older version recorded up to the end of the upgrade, and nothing without a seal after it [10.5aa]', async () => {
    const events = new MemoryEventStore();
    {
      await using older = await openLog({ events, sealing: null });
      await older.write('a', { n: 1 }, { n: 2 });
      await older.checkpoint();
      await older.write('a', { n: 3 });
    }
    await using log = await openLog({ events });
    const checks = checksOf(events, () => Promise.resolve(true));
    const after = (days: number) => {
      const clock = { now: () => new Date(Date.now() + days * 86_400_000) };
      return auditTenant(
        { ...auditing(log), checks, upgradeEnd: createUpgradeEnd({ events, seals, clock }) },
        LOG_TENANT,
        {},
      );
    };
    await log.checkpoint();
    expect(foundIn(await after(2))).toEqual([]);
    await append(events, npcStream(LOG_TENANT, 'a'), 'late');
    await append(events, LOG, 'late');
    expect(foundIn(await after(0.5))).toEqual([]);
    await log.write('a', { n: 4 });
    expect(foundIn(await after(2))).toEqual([
      ['a', 3, FOREIGN],
      [null, (await allOf(events, LOG)).length - 1, FOREIGN],
    ]);
  });

  it('does not believe an acknowledgement that this server did not record [10.5o]', async () => {
    await using log = await openLog();
    await append(log.events, stream, 'misfit');
    await log.write('b', { n: 1 });
    await log.checkpoint();
    const touched = reading((one) => (one.stream === stream && one.revision === 1 ? { ...one, data: { n: 9 } } : one));
    const changed = touched(log.events);
    const [, one] = (await changed.read(stream, { direction: 'forwards', limit: 2 })).events as [
      unknown,
      RecordedEvent,
    ];
    const data = { revision: 1, member: 'hash', stored: one.meta.hash, computed: sha256Hex(hashInput(one)) };
    await append(log.events, stream, 'by me', { type: 'ChainBreakRecorded', data });
    const { broken } = await auditTenant(auditing(log, changed), LOG_TENANT, { npcIds: ['b'] });
    expect(broken.map((found) => [found.revision, found.reason, found.acknowledged])).toEqual([
      [0, FOREIGN, null],
      [1, 'its content does not match its hash', null],
      [2, FOREIGN, null],
    ]);
    const deps = { ...auditing(log, changed), checks: checksOf(changed, () => Promise.resolve(true)), upgradeEnd };
    const { broken: known } = await auditTenant(deps, LOG_TENANT, { npcIds: ['b'] });
    expect(known.map((found) => [found.revision, found.acknowledged?.by])).toEqual([[1, 'key-1']]);
  });

  it('names any JSON in the place of an event, and goes on [10.5ab]', async () => {
    const changes: readonly object[] = [
      { data: { text: '\ud800' } },
      { data: { n: Infinity } },
      { data: null },
      { meta: null },
      { meta: { schemaVersion: 99, hash: 'a'.repeat(64) } },
      { meta: { hash: 5, mac: 'x' } },
      { meta: { hash: null, mac: 7 } },
    ];
    for (const change of changes) {
      const edit = reading((one) => (one.stream === stream && one.revision === 1 ? { ...one, ...change } : one));
      for (const named of [whole, undefined]) {
        const found = foundIn(await tampered(edit, named));
        expect(found).toContainEqual(['b', 1, 'its content does not match its hash']);
        expect(found.every(([npcId]) => npcId === 'b')).toBe(true);
      }
    }
  });

  it('names any JSON in the place of an event of the log, and goes on [10.5ab]', async () => {
    const halved = (leaves: unknown) =>
      Array.isArray(leaves) ? (leaves as Leaf[]).map((leaf) => ({ ...leaf, at: '\ud800' })) : [];
    for (const type of ['CheckpointBegun', 'LeavesLogged', 'CheckpointSigned'])
      for (const change of [
        () => ({ data: null }),
        () => ({ meta: null }),
        ({ meta }: RecordedEvent) => ({ meta: { ...meta, schemaVersion: 99 } }),
        ({ meta }: RecordedEvent) => ({ meta: { ...meta, hash: 5 } }),
        ({ data }: RecordedEvent) => ({ data: { ...data, leaves: halved(data['leaves']), kinds: 5, until: {} } }),
      ] as const) {
        const edit = reading((one) =>
          one.stream === LOG && one.type === type ? ({ ...one, ...change(one) } as RecordedEvent) : one,
        );
        for (const named of [whole, undefined]) {
          const answer = await tampered(edit, named);
          expect([answer.valid, answer.broken.some((one) => one.stream === LOG)]).toEqual([false, true]);
        }
      }
  });

  it('goes on after a log that cannot be read up to its cursor [10.5ab]', async () => {
    await using log = await openLog();
    for (let n = 0; n < 2; n += 1) {
      await log.write('a', { n });
      await log.checkpoint();
    }
    const after = Buffer.from(JSON.stringify({ log: 4 })).toString('base64url');
    for (const data of [null, { leaves: [], after: [{ hash: 5 }], size: 0 }]) {
      const changed = reading((one) => (one.type === 'LeavesLogged' ? ({ ...one, data } as RecordedEvent) : one));
      const events = changed(log.events);
      const deps = { ...auditing(log, events), writers: new StreamWriters(events, systemClock, { seals }) };
      expect(foundIn(await auditTenant(deps, LOG_TENANT, { after }))).toContainEqual([
        ...[null, 4, 'the tree of the log before it cannot be read'],
      ]);
    }
  });

  it('reads a bounded part of the order for one answer, whosever events they are [10.5n]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    await log.checkpoint();
    const own = await log.events.readAll(0, 500);
    const [before, ends] = [2 * ORDER_READ + 1_000, 2 * ORDER_READ + 1_000 + own.length];
    const template = { ...(own[0] as RecordedEvent), stream: npcStream('other', 'm') };
    let read = 0;
    const events = storeWith(log.events, {
      lastPosition: () => Promise.resolve(ends),
      readAll: (after, limit) => {
        const from = Math.max(after, 0);
        const page = Array.from({ length: Math.max(0, Math.min(limit, ends - from)) }, (_, n) => {
          const position = from + n + 1;
          return { ...(own[position - before - 1] ?? template), position };
        });
        read += page.length;
        return Promise.resolve(page);
      },
    });
    let [next, answers, checked]: [string | undefined, number, number] = [undefined, 0, 0];
    do {
      const answer: AuditAnswer = await auditTenant(auditing(log, events), LOG_TENANT, defined({ after: next }));
      expect(read).toBeLessThanOrEqual(ORDER_READ + 1_000);
      read = 0;
      answers += 1;
      checked += answer.events;
      next = answer.next;
    } while (next !== undefined);
    expect([answers, checked]).toEqual([3, 2]);
  });

  it('refuses a cursor beyond the end, or of another audit [10.5n]', async () => {
    await using log = await openLog();
    await log.write('a', { n: 1 });
    await log.checkpoint();
    const ended = await log.events.lastPosition();
    const refused = async (place: object, npcIds?: readonly string[]) => {
      const after = Buffer.from(JSON.stringify(place)).toString('base64url');
      const asked = auditTenant(auditing(log), LOG_TENANT, { after, ...defined({ npcIds }) });
      await expect(asked).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
    };
    await refused({ log: 99 });
    await refused({ order: { position: ended, log: 0 } });
    await refused({ order: { position: 0, log: 99 } });
    await refused({ order: { position: 0, log: 0 } }, ['a']);
    await refused({ npcId: 'a', from: 0 });
    await refused({ npcId: 'b', from: 0 }, ['a']);
    await refused({ npcId: 'a', from: 7 }, ['a']);
  });

  it('names a malformed event of the log', async () => {
    for (const [type, reason] of [
      ['LeavesLogged', 'it is not a batch of leaves'],
      ['CheckpointSigned', 'the root of the checkpoint does not match the leaves before it'],
    ] as const) {
      const { broken } = await tampered(reading((one) => (one.type === type ? { ...one, data: {} } : one)));
      expect(broken).toContainEqual({
        stream: LOG,
        npcId: null,
        revision: type === 'LeavesLogged' ? 1 : 2,
        reason,
        acknowledged: null,
      });
    }
  });

  it('checks a mind that was named twice only once, and refuses a cursor that it did not issue', async () => {
    const log = await openLog();
    await log.write('a', { n: 1 }, { n: 2 });
    const deps = auditing(log);
    expect(await auditTenant(deps, LOG_TENANT, { npcIds: ['a', 'a'] })).toMatchObject({
      events: 2,
      valid: false,
      log: null,
    });
    for (const place of [{ npcId: 5, from: 0 }, { from: 0 }, { npcId: 'a', from: -5 }, { log: -1 }, 5, null]) {
      const after = Buffer.from(JSON.stringify(place)).toString('base64url');
      await expect(auditTenant(deps, LOG_TENANT, { npcIds: ['a'], after })).rejects.toMatchObject({
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
    const endless = storeWith(log.events, { read });
    const deps = { ...auditing(log, endless), checks: checksOf(endless, () => Promise.resolve(true)), upgradeEnd };
    const npcIds = Array.from({ length: minds }, (_, index) => `m${String(index)}`);
    const first = await auditTenant(deps, LOG_TENANT, { npcIds });
    expect(first.broken).toEqual([]);
    expect([first.events >= 200_000, first.events < 220_000]).toEqual([true, true]);
    const rest = await auditTenant(deps, LOG_TENANT, { npcIds, after: first.next ?? '' });
    expect([first.events + rest.events, rest.next]).toEqual([events * minds, undefined]);
  });

  it('names the checkpoints that a revoked key signed since then, and no earlier ones [10.5m, 11.8e]', async () => {
    const keys = await rotatingKeys('audited');
    await using log = await openLog({ signingKeys: keys });
    const old = keys.current.kid;
    await log.write('a', { text: 'one' });
    const first = await log.checkpoint();
    await keys.rotate();
    await log.write('a', { text: 'two' });
    await log.checkpoint();
    const deps = auditing(log);
    const audited = () => auditTenant(deps, LOG_TENANT, { npcIds: ['a'] });
    await keys.revoke(old, new Date(Date.parse(first.at) + 1_000).toISOString());
    expect(await audited()).toMatchObject({ valid: true, broken: [] });
    await keys.revoke(old, first.at);
    const reason = 'the key that signed the note was revoked as of an earlier time';
    expect(await audited()).toMatchObject({
      valid: false,
      broken: [{ npcId: null, revision: first.revision, reason }],
    });
  });

  it('does not sign by a key that was revoked since the last checkpoint [11.8c]', async () => {
    const keys = await rotatingKeys('stolen');
    await using log = await openLog({ signingKeys: keys });
    const old = keys.current.kid;
    await log.write('a', { text: 'one' });
    await log.checkpoint();
    await keys.rotate();
    await keys.revoke(old, '2026-01-01T00:00:00.000Z');
    await log.write('a', { text: 'two' });
    const { note } = await log.checkpoint();
    expect(note.match(/^— /gm)).toHaveLength(1);
  });

  it('ends a response after 200 problems, and continues from its cursor [10.5n]', async () => {
    await using log = await openLog();
    const deps = auditing(log);
    const npcIds = Array.from({ length: 250 }, (_, index) => `nobody-${String(index)}`);
    const first = await auditTenant(deps, LOG_TENANT, { npcIds });
    expect([first.valid, first.broken.length]).toEqual([false, 200]);
    const rest = await auditTenant(deps, LOG_TENANT, { npcIds, after: first.next ?? '' });
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
