import {
  npcEvents,
  type NpcEvent,
  type RecallBasis,
  type RecalledMemory,
  type Verdict,
  type VerdictGrounds,
} from '../npcs/domain/events.js';
import { ruleUse } from './domain/rule-use.js';
import { CURRENT_LOGIC, logicOf } from './domain/decision/logic.js';
import type { ModelOutput } from './domain/decision/model-output.js';
import { declarationsOf } from '../rules/domain/actions/action-declaration.js';
import { keysRead } from '../rules/domain/conditions/cel/read-cel.js';
import { CEL_KEY } from '../rules/domain/conditions/read-condition.js';
import { type DirectiveRuleSet, grammarOf } from '../rules/domain/ruleset.js';
import type { ConditionTrace, SeenValue } from '../rules/domain/rules-trace.js';
import { defined } from '../../kernel/base/defined.js';
import type { Json, JsonObject } from '../../kernel/base/json.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { EventStore } from '../../ports/event-store.js';
import { eventAt } from '../../kernel/streams/stream-pages.js';
import { mindAsOf } from '../npcs/find-mind.js';
import type { Rulesets } from '../rules/rulesets.js';
import type { ProcessRepository } from '../../kernel/processes/process-repository.js';
import type { EventChecks } from '../../kernel/streams/event-checks.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import { readTurn, type TurnView } from './turn-view.js';
import { turnEvents } from './why-events.js';
import { reasoningOf } from './why-reasoning.js';
import { promptOf, type RecordedPrompt, type TurnEvent } from './why-prompt.js';

export type WhyDeps = {
  readonly events: EventStore;
  readonly repository: ProcessRepository;
  readonly writers: StreamWriters;
  readonly checks: Pick<EventChecks, 'isBroken'>;
  readonly rulesets: Pick<Rulesets, 'version'>;
};

/** A rule with its conditions and the values that they saw. */
export type WhyRule = {
  readonly drRuleId: string;
  readonly ruleName: string;
  readonly ruleAction: string;
  readonly ruleReason: string;
  readonly rulePriority: number;
  readonly matched: boolean;
  /** `saw` is absent for a key that was missing; `notRecorded` for one that did not fit into the record, or only in part. */
  readonly conditions: readonly (ConditionTrace & { readonly saw?: Json; readonly notRecorded?: true })[];
  readonly patternHolds?: boolean;
};

/** A memory that was offered; `cause`, if this server recalled it, is the event that stored it. */
export type WhyMemory = RecalledMemory & {
  readonly cause?: { readonly turnId: string | null; readonly eventId: string; readonly revision: number };
};

type Mismatched = Extract<NpcEvent, { type: 'TapeMismatchNoticed' }>['data']['members'][number];

/** Everything that a turn was based on, from its record alone. */
export type Why = {
  readonly turn: TurnView;
  /** An event of the turn is not what was recorded. */
  readonly broken?: true;
  /** The mind at the last decision. */
  readonly mind: { readonly revision: number; readonly persona: string | null; readonly data: JsonObject | null };
  /** The ruleset that was named but is not registered, so another one decided. */
  readonly rulesetMissing?: string;
  readonly rules: readonly WhyRule[];
  /** The rule that the action or the refusal came from, if its version is available. */
  readonly decidedBy?: string;
  readonly memories: readonly WhyMemory[];
  /** How the server recalled them; absent for a body's turn. */
  readonly recall?: RecallBasis;
  readonly prompt: RecordedPrompt | null;
  readonly model: {
    readonly text: string;
    readonly cortexId?: string;
    /** What the model thought, told apart by the engine or taken out of its text. */
    readonly reasoning?: string;
    readonly read: ModelOutput;
  } | null;
  /** Where a tape contradicted the record; the record took precedence. */
  readonly mismatches: readonly { revision: number; round: number; members: readonly Mismatched[] }[];
  /** The attempts in which the engine gave no text; absent if each gave one. */
  readonly missingAnswers?: readonly { attempt: number; cortexId: string; reason: string }[];
  /** Why the turn failed. */
  readonly failure?: { readonly code: string; readonly reason: string };
  readonly stateChange: JsonObject | null;
  readonly memoriesStored: readonly { memoryId: string; text: string; type: string; importance: number }[];
  readonly events: readonly { revision: number; id: string; type: string; at: string; hash: string }[];
};

/**
 * Why a turn had its result.
 * @throws Rejection TURN_NOT_FOUND
 */
export const whyOf = async (deps: WhyDeps, tenant: string, npcId: string, turnId: string): Promise<Why> => {
  const turn = await readTurn(deps, tenant, npcId, turnId);
  const stream = npcStream(tenant, npcId);
  const events = await turnEvents(deps.events, stream, turn);
  const known = events.map((event) => npcEvents.decode(event));
  const first = <Type extends NpcEvent['type']>(...types: readonly Type[]) =>
    known.find((event) => (types as readonly string[]).includes(event.type)) as
      Extract<NpcEvent, { type: Type }> | undefined;
  const decisions = known.filter((event) => event.type !== 'Unknown' && 'mindRevision' in event.data);
  const revision = Math.max(-1, ...decisions.map(({ data }) => (data as { mindRevision: number }).mindRevision));
  const mind = revision < 0 ? null : await mindAsOf(deps.writers, tenant, npcId, { revision });
  const ruleset = await deps.rulesets.version(tenant, turn.ruleset);
  const reached = first('VerdictReached', 'VerdictRefused')?.data;
  const trace = reached?.grounds ?? first('DirectiveGiven')?.data ?? first('ContextBuilt')?.data;
  const generatedOutput = reached?.generatedOutput;
  return {
    turn,
    ...((await isAnyBroken(deps.checks, events)) ? { broken: true } : {}),
    mind: { revision, persona: mind?.persona ?? null, data: mind?.data ?? null },
    ...defined({ rulesetMissing: first('RulesetMissing')?.data.rulesetId }),
    rules: rulesOf(trace, ruleset),
    ...defined({ decidedBy: reached === undefined ? undefined : deciderOf(reached, ruleset) }),
    memories: await withCauses(deps.events, stream, memoriesOffered(known)),
    ...defined({ recall: first('MemoriesRecalled')?.data.recall }),
    prompt: await promptOf(deps, { tenant, npcId, ruleset }, known),
    model:
      generatedOutput === undefined
        ? null
        : {
            text: generatedOutput,
            ...defined({ cortexId: reached?.cortexId, reasoning: reached && reasoningOf(reached) }),
            read: logicOf(reached?.logic ?? CURRENT_LOGIC).texts.read(generatedOutput, declarationsOf(ruleset)),
          },
    mismatches: events.flatMap((event) => {
      const { type, data } = npcEvents.decode(event);
      return type === 'TapeMismatchNoticed'
        ? [{ revision: event.revision, round: data.round, members: data.members }]
        : [];
    }),
    ...defined({ missingAnswers: missingAnswersIn(known), failure: failureIn(first('TurnFailed')?.data) }),
    stateChange: first('StateChanged')?.data.patch ?? null,
    memoriesStored: known.flatMap((event) =>
      event.type === 'MemoryStored'
        ? [defined({ ...event.data, turnId: undefined, metadata: undefined }) as Why['memoriesStored'][number]]
        : [],
    ),
    events: events.map(({ revision: at, id, type, meta }) => ({
      revision: at,
      id,
      type,
      at: meta.at,
      hash: meta.hash,
    })),
  };
};

const isAnyBroken = async (
  checks: WhyDeps['checks'],
  events: Awaited<ReturnType<typeof turnEvents>>,
): Promise<boolean> => {
  for (const event of events) if (await checks.isBroken(event)) return true;
  return false;
};

const missingAnswersIn = (known: readonly TurnEvent[]): Why['missingAnswers'] => {
  const missing = known.flatMap((event) =>
    event.type === 'AnswerMissing'
      ? [{ attempt: event.data.attempt, cortexId: event.data.cortexId, reason: event.data.reason }]
      : [],
  );
  return missing.length === 0 ? undefined : missing;
};

const failureIn = (failed: Extract<NpcEvent, { type: 'TurnFailed' }>['data'] | undefined): Why['failure'] =>
  failed && { code: failed.code, reason: failed.reason };

type Trace =
  | Extract<NpcEvent, { type: 'VerdictReached' }>['data']['grounds']
  | Extract<NpcEvent, { type: 'DirectiveGiven' }>['data'];

const rulesOf = (
  trace: Pick<Trace, 'rules' | 'seen' | 'seenLeftOut'> | undefined,
  ruleset: DirectiveRuleSet | null,
): readonly WhyRule[] => {
  const seen = new Map((trace?.seen ?? []).map((one) => [one.key, one]));
  const leftOut = (trace?.seenLeftOut ?? 0) > 0;
  const named = new Map((ruleset?.rulesetRules ?? []).map((rule) => [rule.drRuleId, rule]));
  return (trace?.rules ?? []).map(({ drRuleId, matched, conditions = [], patternHolds }) => {
    const { ruleName = '', ruleAction = '', ruleReason = '', rulePriority = 0 } = named.get(drRuleId) ?? {};
    return {
      drRuleId,
      ruleName,
      ruleAction,
      ruleReason,
      rulePriority,
      matched,
      conditions: conditions.map((condition) => {
        const read = grammarOf(ruleset ?? {}) === 2 && condition.key === CEL_KEY ? keysRead(condition.expected) : null;
        const saw = read === null ? sawOf(seen.get(condition.key), leftOut) : sawAll(read, seen, leftOut);
        return { ...condition, ...saw };
      }),
      ...defined({ patternHolds }),
    };
  });
};

const deciderOf = (
  { verdict, grounds }: { readonly verdict: Verdict; readonly grounds: VerdictGrounds },
  ruleset: DirectiveRuleSet | null,
): string | undefined =>
  ruleset === null ? undefined : (ruleUse(ruleset, { ...grounds, verdict }).decided ?? undefined);

/** The value that a key saw. A key without a record was missing, unless the record did not have room for all of them. */
const sawOf = (seen: SeenValue | undefined, leftOut: boolean): Partial<WhyRule['conditions'][number]> => {
  if (seen === undefined) return leftOut ? { notRecorded: true } : {};
  const saw = seen.value === null ? {} : { saw: seen.value };
  return seen.shortened === true ? { ...saw, notRecorded: true } : saw;
};

/** The values of all members that an expression names, by their names. */
const sawAll = (
  keys: readonly string[],
  seen: ReadonlyMap<string, SeenValue>,
  leftOut: boolean,
): Partial<WhyRule['conditions'][number]> => {
  const each = keys.map((key) => [key, sawOf(seen.get(key), leftOut)] as const);
  const found = each.flatMap(([key, { saw }]): readonly [string, Json][] => (saw === undefined ? [] : [[key, saw]]));
  return {
    ...(found.length === 0 ? {} : { saw: Object.fromEntries(found) }),
    ...(each.some(([, { notRecorded }]) => notRecorded === true) ? { notRecorded: true } : {}),
  };
};

const memoriesOffered = (known: readonly TurnEvent[]): readonly RecalledMemory[] => {
  for (const event of known.toReversed()) {
    if (event.type === 'MemoriesRecalled' || event.type === 'ContextBuilt') return event.data.memories;
    if (event.type === 'TurnOpened' && event.data.memories !== undefined) return event.data.memories;
  }
  return [];
};

/** The memories, with the events that stored them if this server recalled them. */
const withCauses = (
  events: Pick<EventStore, 'read'>,
  stream: string,
  memories: readonly RecalledMemory[],
): Promise<readonly WhyMemory[]> =>
  Promise.all(
    memories.map(async (memory) => {
      const { revision, memoryId } = memory;
      if (revision === undefined) return memory;
      const stored = await eventAt(events, stream, revision);
      if (stored === undefined || stored.data['memoryId'] !== memoryId) return memory;
      const { turnId } = stored.data;
      return {
        ...memory,
        cause: { turnId: typeof turnId === 'string' ? turnId : null, eventId: stored.id, revision },
      };
    }),
  );
