import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../src/adapters/memory/event-store.js';
import { Lanes } from '../../src/app/lanes.js';
import { openRulesets, rulesetFold } from '../../src/app/rulesets.js';
import { runCommand } from '../../src/app/run-command.js';
import { deleteRuleset, registerRuleset } from '../../src/domain/rules/decide.js';
import { rulesetStream } from '../../src/domain/shared/stream-names.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { ManualClock } from '../support/manual-clock.js';
import { heldStore, onBehalf } from '../support/streams.js';

const setUp = (store: EventStore = new MemoryEventStore()) => {
  const clock = new ManualClock();
  const lanes = new Lanes(store, clock);
  let commands = 0;
  const run = (rulesetId: string, decide: Parameters<typeof runCommand<typeof rulesetFold.initial>>[4]) =>
    runCommand(
      { events: store, lanes, clock },
      rulesetStream('studio', rulesetId),
      rulesetFold,
      onBehalf(`c${commands++}`),
      decide,
    );
  const content = (rulesetId: string) => ({ rulesetId, template: null, rulesetRules: [] });
  return {
    rulesets: openRulesets(lanes),
    register: (rulesetId: string) => run(rulesetId, (state) => registerRuleset(state, content(rulesetId))),
    remove: (rulesetId: string) => run(rulesetId, (state) => deleteRuleset(state, rulesetId)),
  };
};

describe('the rules that decide', () => {
  it('are those of the named set, in its newest version', async () => {
    const { rulesets, register } = setUp();
    await register('inn');
    await register('inn');
    expect(await rulesets.choose('studio', 'inn')).toMatchObject({ ruleset: { rulesetId: 'inn', version: 2 } });
  });

  it("are the tenant's default where none is named, and none where there is no default", async () => {
    const { rulesets, register } = setUp();
    expect(await rulesets.choose('studio', undefined)).toEqual({ ruleset: null });
    await register('default');
    expect(await rulesets.choose('studio', undefined)).toMatchObject({ ruleset: { rulesetId: 'default' } });
    expect(await rulesets.choose('other', undefined)).toEqual({ ruleset: null });
  });

  it('are none, not the default, where the named set is unknown or deleted: it is missing', async () => {
    const { rulesets, register, remove } = setUp();
    await register('default');
    await register('inn');
    await remove('inn');
    for (const rulesetId of ['nowhere', 'inn'])
      expect(await rulesets.choose('studio', rulesetId)).toEqual({ ruleset: null, missing: rulesetId });
  });

  it('of a version stay readable when the set is registered anew or deleted', async () => {
    const { rulesets, register, remove } = setUp();
    await register('inn');
    await register('inn');
    await remove('inn');
    expect(await rulesets.version('studio', { rulesetId: 'inn', version: 1 })).toMatchObject({ version: 1 });
    expect(await rulesets.version('studio', { rulesetId: 'inn', version: 3 })).toBeNull();
    expect(await rulesets.version('studio', null)).toBeNull();
    expect(await rulesets.latest('studio', 'inn')).toBeNull();
  });

  it('are never those of a version that is still being written: it may be thrown back', async () => {
    const { store, release } = heldStore(new MemoryEventStore());
    const { rulesets, register } = setUp(store);
    const registered = register('inn');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await rulesets.latest('studio', 'inn')).toBeNull();
    release();
    await registered;
    expect(await rulesets.latest('studio', 'inn')).toMatchObject({ version: 1 });
  });
});
