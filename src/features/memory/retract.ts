import { isStanding, memories, type MemoryRow } from '../../../projections/memories.js';
import { createLineage, type Kin } from './domain/lineage.js';
import { retractMemories } from './domain/decide.js';
import type { MindState } from '../npcs/domain/state.js';
import { Rejection } from '../../kernel/base/rejection.js';
import type { ReadModels } from '../../ports/read-models.js';
import { mindFold } from '../npcs/mind-fold.js';
import { requireReached } from '../../kernel/read-models/read-wait.js';
import { DECIDE_ATTEMPTS } from '../../kernel/streams/attempts.js';
import type { TurnIndex } from '../turns/turn-index.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { firstKin, followLineage } from './lineage.js';
import { memoryRows } from './memory-rows.js';

/** The number of memories that one retraction may remove, including derived ones. */
export const RETRACTED_MEMORIES = 256;
/** How many events are searched for derived memories: some ten seconds of work. */
const DERIVED_EVENTS = 200_000;

export type RetractionRequest = {
  readonly memoryIds: readonly string[];
  readonly reason: string;
  /** Whether memories derived from them are retracted too. */
  readonly derived: boolean;
  readonly dryRun: boolean;
};

/** A memory to retract. `derivedFrom`: memories recalled by the turn that stored it. */
export type Retracted = { readonly memoryId: string; readonly text: string; readonly derivedFrom: readonly string[] };

type RetractionResult = {
  readonly retracted: readonly Retracted[];
  readonly revision: number;
  readonly position: number;
};

/** How many unknown ids a refusal names. */
const UNKNOWN_NAMED = 10;

export type RetractDeps = CommandDeps & {
  readonly readModels: ReadModels;
  /** Turns of which a memory is retracted leave the conversation. */
  readonly turnIndex: Pick<TurnIndex, 'note'>;
};

/** The memories of a retraction, and the revision up to which they are known. */
type RetractionPlan = {
  readonly kin: readonly Kin[];
  readonly rows: ReadonlyMap<string, MemoryRow>;
  readonly through: number;
};

const plan = async (
  deps: RetractDeps,
  stream: string,
  { memoryIds, derived }: RetractionRequest,
): Promise<RetractionPlan> => {
  const { revision } = await deps.writers.current(stream, mindFold);
  await requireReached(deps.readModels, memories, stream, revision);
  const named = await memoryRows(deps.readModels, stream, memoryIds);
  const unknown = memoryIds.filter((memoryId) => !named.has(memoryId));
  if (unknown.length > 0) {
    const details = { memoryIds: unknown.slice(0, UNKNOWN_NAMED), unknown: unknown.length };
    throw new Rejection('MEMORY_NOT_FOUND', { details });
  }
  const first = [...named.values()].map(firstKin);
  if (!derived) return { kin: first, rows: named, through: revision };
  const lineage = createLineage(first);
  const from = Math.min(...first.map((one) => one.revision)) + 1;
  const { next } = await followLineage(deps, stream, lineage, { from, most: DERIVED_EVENTS });
  const kin = [...first, ...lineage.derived()];
  if (next !== undefined || lineage.isCut()) throw tooMany(kin.length, true);
  const later = kin.slice(first.length).map(({ memoryId }) => memoryId);
  // A memory that was stored in the meantime may not be in the read model yet. It had been neither cleared nor retracted.
  return { kin, rows: new Map([...named, ...(await memoryRows(deps.readModels, stream, later))]), through: revision };
};

const tooMany = (count: number, more: boolean): Rejection =>
  new Rejection('RETRACTION_TOO_LARGE', {
    details: { memories: count, atLeast: more, memoriesLimit: RETRACTED_MEMORIES },
  });

/** The memories of a plan that a mind still has. */
const standing = ({ kin, rows }: RetractionPlan, { memories: { clearedAt } }: MindState): readonly Kin[] =>
  kin.filter(({ memoryId, revision }) => revision > clearedAt && isStanding(rows.get(memoryId) ?? {}));

/**
 * Removes memories of a mind from lists, recall, confirmations and souls, or lists those that it would remove. Those that were already removed are
 * not named again. Memories that a concurrently open turn stores are not removed.
 * @throws Rejection BUSY if too many retractions of this mind are waiting, MEMORY_NOT_FOUND, RETRACTION_TOO_LARGE, READ_MODEL_BEHIND; CONFLICT if
 * others keep retracting or clearing; as runCommand
 */
export const retract = (
  deps: RetractDeps,
  stream: string,
  asked: RetractionRequest,
  by: Command,
): Promise<RetractionResult> =>
  // Each retraction invalidates the plans of others, and a plan may be ten seconds of work.
  asked.dryRun
    ? tryRetract(deps, stream, asked, by)
    : deps.writers.runExclusive(`retract ${stream}`, () => tryRetract(deps, stream, asked, by));

const tryRetract = async (
  deps: RetractDeps,
  stream: string,
  asked: RetractionRequest,
  by: Command,
): Promise<RetractionResult> => {
  const memoryIds = [...new Set(asked.memoryIds)];
  for (let attempt = 0; attempt < DECIDE_ATTEMPTS; attempt += 1) {
    const planned = await plan(deps, stream, { ...asked, memoryIds });
    const shown = (ids: ReadonlySet<string>): readonly Retracted[] =>
      planned.kin
        .filter(({ memoryId }) => ids.has(memoryId))
        .map(({ memoryId, text, by: derivedFrom }) => ({ memoryId, text, derivedFrom }));
    const isKnown = ({ memories: { clearedAt, retractedAt } }: MindState): boolean =>
      Math.max(clearedAt, retractedAt) <= planned.through;
    const going = (mind: MindState): readonly string[] | Rejection => {
      const ids = standing(planned, mind).map(({ memoryId }) => memoryId);
      return ids.length > RETRACTED_MEMORIES ? tooMany(ids.length, false) : ids;
    };
    if (asked.dryRun) {
      const { state, revision } = await deps.writers.current(stream, mindFold);
      if (!isKnown(state)) continue;
      const ids = going(state);
      if (ids instanceof Rejection) throw ids;
      return { retracted: shown(new Set(ids)), revision, position: 0 };
    }
    const why = { reason: asked.reason, ...(asked.derived ? { roots: memoryIds } : {}) };
    const { events, state, revision, position } = await runCommand(deps, stream, mindFold, by, (mind) => {
      const ids = isKnown(mind) ? going(mind) : [];
      return ids instanceof Rejection ? ids : retractMemories(ids, why);
    });
    deps.turnIndex.note(stream, events);
    const [recorded] = events;
    if (recorded !== undefined) {
      const ids = recorded.data['memoryIds'] as readonly string[];
      return { retracted: shown(new Set(ids)), revision, position };
    }
    if (isKnown(state)) return { retracted: [], revision, position };
  }
  throw new Rejection('CONFLICT', { retryAfter: 1 });
};
