import { describe, expect, it } from 'vitest';

import { MemoryEventStore } from '../../support/memory/event-store.js';
import { yieldToEventLoop } from '../../../src/kernel/concurrency/yield-to-event-loop.js';
import { StreamWriters } from '../../../src/kernel/streams/stream-writers.js';
import { openRulesets } from '../../../src/features/rules/rulesets.js';
import { readStrict } from '../../../src/features/rules/domain/conditions/match-strict.js';
import { rulesetDigest } from '../../../src/features/rules/ruleset-digest.js';
import { presetContents } from '../../../src/features/rules/domain/presets/presets.js';
import { defined } from '../../../src/kernel/base/defined.js';
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
    refusing: openRulesets(writers, store, { refusesUnknown: true }),
    writers,
    registerLong: () => run(long.rulesetId, (state) => registerRuleset(state, long)),
    register: (rulesetId: string, reason?: string) =>
      run(rulesetId, (state) => registerRuleset(state, content(rulesetId, reason))),
    remove: (rulesetId: string) => run(rulesetId, (state) => deleteRuleset(state, rulesetId)),
  };
};

/** A set whose conditions take several slices to read. */
const long = {
  rulesetId: 'long',
  template: null,
  grammar: 2 as const,
  rulesetRules: Array.from({ length: 100 }, (_, at) => ({
    drRuleId: `rule-${at}`,
    ruleName: '',
    ruleCondition: [['cel', `state.member${at} > ${at}.0 || context.place == "the old mill by the river"`] as const],
    ruleAction: 'FORBID SELL',
    ruleReason: '',
    ruleTarget: null,
    rulePriority: 0,
    ruleObsPattern: null,
    rulePromptSuffix: null,
  })),
};

const named = (rulesetId?: string) => ({ bound: null, named: rulesetId });

describe('the rules of a decision', () => {
  it('are read in slices before the decision, the newest version and older ones', async () => {
    const fresh = { ...long, version: 1, rulesetRules: long.rulesetRules.map((rule) => ({ ...rule })) };
    expect([...readStrict(fresh)].length).toBeGreaterThan(2);
    const [first] = long.rulesetRules;
    const ruleCondition = Array.from({ length: 20 }, (_, n) => ['mood', `${'x'.repeat(1_000)}${n}`] as const);
    const oneRule = { ...fresh, rulesetRules: first === undefined ? [] : [{ ...first, ruleCondition }] };
    expect([...readStrict(oneRule)].length).toBeGreaterThan(5);
    const { rulesets, registerLong } = setUp();
    await registerLong();
    const { ruleset } = await rulesets.choose('studio', named('long'));
    expect(ruleset === null ? null : [...readStrict(ruleset)]).toEqual([]);
    await registerLong();
    const older = await rulesets.version('studio', { rulesetId: 'long', version: 1 });
    expect(older).not.toBe(ruleset);
    expect(older === null ? null : [...readStrict(older)]).toEqual([]);
  });

  it('are the newest version of the named set [2.8b]', async () => {
    const { rulesets, register } = setUp();
    await register('inn');
    await register('inn');
    expect(await rulesets.choose('studio', named('inn'))).toMatchObject({ ruleset: { rulesetId: 'inn', version: 2 } });
  });

  it('are the tenant’s default if none is named, and none without a default [2.8b]', async () => {
    const { rulesets, register } = setUp();
    expect(await rulesets.choose('studio', named())).toEqual({ ruleset: null, used: null });
    await register('default');
    expect(await rulesets.choose('studio', named())).toMatchObject({ ruleset: { rulesetId: 'default' } });
    expect(await rulesets.choose('other', named())).toEqual({ ruleset: null, used: null });
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

  it('are others if the named set is unknown or deleted: the default, the preset of that name, the default preset [2.8c]', async () => {
    const { rulesets, register, remove } = setUp();
    await register('inn');
    await remove('inn');
    const chosen = (rulesetId: string) => rulesets.choose('studio', named(rulesetId));
    for (const rulesetId of ['nowhere', 'inn'])
      expect(await chosen(rulesetId)).toMatchObject({
        ruleset: { rulesetId: 'default', version: 0 },
        used: { rulesetId: 'default', version: 0, asked: rulesetId },
        missing: rulesetId,
      });
    expect(await chosen('rpg')).toMatchObject({ used: { rulesetId: 'rpg', version: 0 }, missing: 'rpg' });
    await register('default');
    for (const rulesetId of ['nowhere', 'inn', 'rpg'])
      expect(await chosen(rulesetId)).toMatchObject({
        used: { rulesetId: 'default', version: 1, asked: rulesetId },
        missing: rulesetId,
      });
  });

  it('are those that the mind is bound to, whatever a request names [2.8b]', async () => {
    const { rulesets, register, remove } = setUp();
    await register('default');
    await register('inn');
    await register('guard');
    const bound = (name?: string) => rulesets.choose('studio', { bound: 'inn', named: name });
    const used = (await bound()).used;
    expect(used).toEqual({ rulesetId: 'inn', version: 1, digest: expect.stringMatching(/^[\w-]{43}$/) as string });
    expect((await bound('inn')).used).toEqual(used);
    for (const name of ['guard', 'nowhere', 'default'])
      expect(await bound(name)).toEqual({
        ruleset: await rulesets.latest('studio', 'inn'),
        used: { ...used, asked: name },
      });
    // A set that is deleted still binds, with its last version.
    await remove('inn');
    expect(await bound('guard')).toMatchObject({ used: { ...used, asked: 'guard' }, missing: 'inn' });
    const never = await rulesets.choose('studio', { bound: 'nowhere', named: undefined });
    expect(never).toMatchObject({ used: { rulesetId: 'default', version: 1 }, missing: 'nowhere' });
  });

  it('of an agent are the default preset if nothing else applies [7.1g]', async () => {
    const { rulesets, register } = setUp();
    expect((await rulesets.chooseForAgent('studio', named())).used).toMatchObject({ rulesetId: 'default', version: 0 });
    await register('inn');
    expect((await rulesets.chooseForAgent('studio', { bound: 'inn', named: undefined })).used).toMatchObject({
      rulesetId: 'inn',
      version: 1,
    });
  });

  it('are refused instead of replaced if the server refuses unknown ids [2.8c]', async () => {
    const { refusing, register } = setUp();
    await register('default');
    const unknown = { code: 'RULESET_UNKNOWN', details: { rulesetId: 'nowhere' } };
    await expect(refusing.choose('studio', named('nowhere'))).rejects.toMatchObject(unknown);
    await expect(refusing.choose('studio', { bound: 'nowhere', named: 'default' })).rejects.toMatchObject(unknown);
    expect((await refusing.choose('studio', named())).used).toMatchObject({ rulesetId: 'default' });
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

  it('of version 0 are the content of the preset that the record has the digest of [5.3g]', async () => {
    const { rulesets } = setUp();
    const [first, newest] = presetContents('rpg').map((content) => ({ ...content, version: 0 }));
    if (first === undefined || newest === undefined) throw new Error('rpg has only one content.');
    const version = (digest?: string) =>
      rulesets.version('studio', { rulesetId: 'rpg', version: 0, ...defined({ digest }) });
    expect(await version()).toEqual(first);
    expect(await version(await rulesetDigest(first))).toEqual(first);
    expect(await version(await rulesetDigest(newest))).toEqual(newest);
    expect(await version('another')).toBeNull();
    expect((await rulesets.choose('studio', named('rpg'))).ruleset).toEqual(newest);
    expect(await rulesets.version('studio', { rulesetId: 'pirate', version: 0 })).toBeNull();
    expect(await rulesets.version('studio', { rulesetId: 'constructor', version: 0 })).toBeNull();
  });

  it('are those that a client asks for by version, and by digest if it gives one [5.3f, 5.3h]', async () => {
    const { rulesets, register } = setUp();
    const asked = async (rulesetId: string, version: number, digest?: string) =>
      rulesets.asked('studio', { rulesetId, version, ...defined({ digest }) });
    const [first, newest] = presetContents('rpg').map((content) => ({ ...content, version: 0 }));
    if (first === undefined) throw new Error('rpg has no content.');
    expect(await asked('rpg', 0)).toEqual(newest);
    expect(await asked('rpg', 0, await rulesetDigest(first))).toEqual(first);
    expect(await asked('pirate', 0)).toBeNull();
    await register('rpg');
    expect(await asked('rpg', 0)).toEqual(newest);
    const registered = await asked('rpg', 1);
    if (registered === null) throw new Error('rpg is not registered.');
    expect(await asked('rpg', 1, await rulesetDigest(registered))).toEqual(registered);
    expect(await asked('rpg', 1, await rulesetDigest(first))).toBeNull();
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
