import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import { rulesetFold } from '../../../src/features/rules/ruleset-fold.js';
import { runCommand } from '../../../src/kernel/streams/run-command.js';
import { deleteRuleset, registerRuleset } from '../../../src/features/rules/domain/decide.js';
import { type Json, jsonBytes } from '../../../src/kernel/base/json.js';
import { rulesetStream } from '../../../src/kernel/base/stream-names.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { ManualClock } from '../../support/manual-clock.js';
import { heldStore, onBehalf, storeWith } from '../../support/streams.js';

const setUp = (store: EventStore = new MemoryEventStore()) => {
  const clock = new ManualClock();
  const writers = new StreamWriters(store, clock);
  let commands = 0;
  const run = (rulesetId: string, decide: Parameters<typeof runCommand<typeof rulesetFold.initial>>[4]) =>
    runCommand(
      { events: store, writers, clock },
      rulesetStream('studio', rulesetId),
      rulesetFold,
      onBehalf(`c${commands++}`),
      decide,
    );
  const content = (rulesetId: string, ruleReason?: string) => ({
    rulesetId,
    template: null,
    rulesetRules:
      ruleReason === undefined
        ? []
        : [
            {
              drRuleId: 'rule-1',
              ruleName: '',
              ruleCondition: [],
              ruleAction: '',
              ruleReason,
              ruleTarget: null,
              rulePriority: 0,
              ruleObsPattern: null,
              rulePromptSuffix: null,
            },
          ],
  });
  return {
    rulesets: openRulesets(writers, store),
    writers,
    register: (rulesetId: string, reason?: string) =>
      run(rulesetId, (state) => registerRuleset(state, content(rulesetId, reason))),
    remove: (rulesetId: string) => run(rulesetId, (state) => deleteRuleset(state, rulesetId)),
  };
};

describe('the rules of a decision', () => {
  it('are the newest version of the named set [2.8b]', async () => {
    const { rulesets, register } = setUp();
    await register('inn');
    await register('inn');
    expect(await rulesets.choose('studio', 'inn')).toMatchObject({ ruleset: { rulesetId: 'inn', version: 2 } });
  });

  it('are the tenant’s default if none is named, and none without a default [2.8b]', async () => {
    const { rulesets, register } = setUp();
    expect(await rulesets.choose('studio', undefined)).toEqual({ ruleset: null });
    await register('default');
    expect(await rulesets.choose('studio', undefined)).toMatchObject({ ruleset: { rulesetId: 'default' } });
    expect(await rulesets.choose('other', undefined)).toEqual({ ruleset: null });
  });

  it('are the current ones of a set, and the built-in default until a tenant has its own', async () => {
    const { rulesets, register, remove } = setUp();
    expect(await rulesets.deciding('studio', 'default')).toMatchObject({ rulesetId: 'default', version: 0 });
    expect(await rulesets.deciding('studio', 'guard')).toBeNull();
    await register('default');
    expect(await rulesets.deciding('studio', 'default')).toMatchObject({ version: 1 });
    await remove('default');
    expect(await rulesets.deciding('studio', 'default')).toMatchObject({ version: 0 });
  });

  it('are none, not the default, if the named set is unknown or deleted: it is missing [2.8c]', async () => {
    const { rulesets, register, remove } = setUp();
    await register('default');
    await register('inn');
    await remove('inn');
    for (const rulesetId of ['nowhere', 'inn'])
      expect(await rulesets.choose('studio', rulesetId)).toEqual({ ruleset: null, missing: rulesetId });
  });

  it('of a version stay readable when the set is registered again or deleted [5.1h, 5.2d]', async () => {
    const { rulesets, register, remove } = setUp();
    await register('inn');
    await register('inn');
    await remove('inn');
    expect(await rulesets.version('studio', { rulesetId: 'inn', version: 1 })).toMatchObject({ version: 1 });
    expect(await rulesets.version('studio', { rulesetId: 'inn', version: 3 })).toBeNull();
    expect(await rulesets.version('studio', null)).toBeNull();
    expect(await rulesets.latest('studio', 'inn')).toBeNull();
  });

  it('are cached only in their newest version; an old one is read on demand, and then cached', async () => {
    const memory = new MemoryEventStore();
    const froms: unknown[] = [];
    const read: EventStore['read'] = (stream, range) => {
      froms.push(range.from);
      return memory.read(stream, range);
    };
    const { rulesets, register, remove, writers } = setUp(storeWith(memory, { read }));
    await register('inn', 'first');
    await remove('inn');
    for (let version = 2; version <= 5; version += 1) await register('inn', 'x'.repeat(800_000));
    const writer = await writers.open(rulesetStream('studio', 'inn'), rulesetFold);
    expect(jsonBytes(writer.confirmedState as unknown as Json)).toBeLessThan(900_000);
    froms.length = 0;
    for (const _ of [1, 2]) {
      const found = await rulesets.version('studio', { rulesetId: 'inn', version: 1 });
      expect(found).toMatchObject({ version: 1, rulesetRules: [{ ruleReason: 'first' }] });
    }
    expect(await rulesets.version('studio', { rulesetId: 'inn', version: 3 })).toMatchObject({ version: 3 });
    expect(await rulesets.version('studio', { rulesetId: 'inn', version: 5 })).toMatchObject({ version: 5 });
    expect(froms).toEqual([0, 3]);
  });

  it('never come from a version that is still being written, which may be discarded', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { rulesets, register } = setUp(store);
    const registered = register('inn');
    await yieldToEventLoop();
    expect(await rulesets.latest('studio', 'inn')).toBeNull();
    release();
    await registered;
    expect(await rulesets.latest('studio', 'inn')).toMatchObject({ version: 1 });
  });
});
