import { replayEvents } from '../../src/features/replays/domain/events.js';
import type { DirectiveRuleSet } from '../../src/features/rules/domain/ruleset.js';
import { defined } from '../../src/kernel/base/defined.js';
import { Rejection } from '../../src/kernel/base/rejection.js';
import { npcStream, parseReplayStream } from '../../src/kernel/base/stream-names.js';
import type { Ports } from '../../src/ports/ports.js';
import type { ProcessInput } from '../../src/ports/process-runtime.js';
import type { ReplayInput, ReplaySetting } from '../../workflows/replay.js';
import type { Rulesets } from '../../src/features/rules/rulesets.js';
import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import type { ReplayTask } from '../../src/features/replays/count-mind.js';
import { mindsAfter, rowsOfMinds } from '../../src/features/replays/minds-ahead.js';
import { type ReplayHands, replaySlice, REPLAY_SLICE_MS } from '../../src/features/replays/replay-slice.js';

/** The timeout of an attempt, in milliseconds: a slice, preceded by the part of a long mind that a crash left to be done again. */
const EFFECT_MS = 1_800_000;

export type ReplayEffectsDeps = {
  readonly ports: Pick<Ports, 'events' | 'readModels' | 'clock'>;
  readonly rulesets: Pick<Rulesets, 'version'>;
  readonly replayHands: ReplayHands;
};

type OfTenant = { readonly tenant: string; readonly replayId: string; readonly setting: ReplaySetting };

/** What a replay needs: its effects count the decisions ahead and replay them in slices. */
export const replayEffects = (open: ReplayEffectsDeps, sliceMs: number = REPLAY_SLICE_MS): ProcessEffects => {
  const trialOf = async ({ tenant, setting }: OfTenant): Promise<DirectiveRuleSet | undefined> => {
    if (setting.ruleset === undefined) return setting.rules;
    const rules = await open.rulesets.version(tenant, setting.ruleset);
    if (rules === null) throw new Rejection('RULESET_NOT_FOUND');
    return rules;
  };

  const begin = async (of: OfTenant, signal: AbortSignal): Promise<ReplayInput> => {
    const { tenant, setting } = of;
    const { events, readModels } = open.ports;
    const drRuleIds = (await trialOf(of))?.rulesetRules.map(({ drRuleId }) => drRuleId);
    const unknown: string[] = [];
    let minds = 0;
    let eventsInAll = 0;
    const count = (revision: number): void => {
      minds += 1;
      eventsInAll += revision + 1;
    };
    if (setting.npcIds === null)
      for await (const { revision } of rowsOfMinds(readModels, tenant, { ...setting, after: null })) count(revision);
    for (const npcId of setting.npcIds ?? []) {
      signal.throwIfAborted();
      const { lastRevision } = await events.read(npcStream(tenant, npcId), { direction: 'backwards', limit: 1 });
      if (lastRevision < 0) unknown.push(npcId);
      else count(lastRevision);
    }
    return { type: 'begun', minds, events: eventsInAll, unknown, ...defined({ drRuleIds }) };
  };

  const slice = async (of: OfTenant, signal: AbortSignal): Promise<ReplayInput> => {
    const { tenant, replayId, setting } = of;
    const { readModels, clock } = open.ports;
    const { upTo, fromRevision, toRevision, turnId, since, until, instead, outputs } = setting;
    const trial = await trialOf(of);
    const asked = defined({ fromRevision, toRevision, turnId, since, until, instead, outputs, trial });
    const task: ReplayTask = { replayId, tenant, upTo, ...asked };
    const ahead = (after: string | null) => mindsAfter(readModels, tenant, setting, after);
    return replaySlice({ hands: open.replayHands, clock, sliceMs, mindsAfter: ahead }, setting, task, signal);
  };

  return {
    fold: { initial: null, evolve: () => null, versionOf: replayEvents.versionOf },
    prepare: () => Promise.resolve(() => null),
    effectMs: EFFECT_MS,
    effect: async ({ stream, id: replayId }, { name, args }, signal) => {
      const parsed = parseReplayStream(stream);
      if (parsed === null) throw new Error(`the replay ${replayId} is not in a stream of replays`);
      const of = { tenant: parsed.tenant, replayId, setting: args as unknown as ReplaySetting };
      return unlessBroken(() => (name === 'begin' ? begin(of, signal) : slice(of, signal)), signal);
    },
  };
};

/** A permanent failure would recur on every retry, so it ends the replay. */
const unlessBroken = async (work: () => Promise<ReplayInput>, signal: AbortSignal): Promise<ProcessInput> => {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const isRefusal = error instanceof Rejection;
    if (isRefusal && error.retryAfter !== undefined && error.code !== 'EVENT_VERSION_UNKNOWN') throw error;
    const reason = isRefusal ? error.message : 'A decision could not be replayed because of a defect in the server.';
    return { type: 'broken', reason } satisfies ReplayInput;
  }
};
