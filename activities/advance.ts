import { decideAndAppend, durable } from '../src/app/streams/decide-and-append.js';
import type { EventDraft } from '../src/app/streams/lane.js';
import type { Lanes } from '../src/app/streams/lanes.js';
import type { Instance, ProcessJournal } from '../src/app/processes/process-journal.js';
import { schemaVersionOf } from '../src/domain/event-kinds.js';
import { parseProcessId } from '../src/domain/shared/process-id.js';
import { Rejection } from '../src/domain/shared/rejection.js';
import type { HostedProcess } from '../src/app/processes/hosted-process.js';
import type { ProcessMark } from '../src/ports/event-store.js';
import type { CommandContext } from '../src/domain/shared/command-context.js';
import { type StepAnswer, type ProcessInput, processKey, type ProcessRef } from '../src/ports/process-engine.js';
import { type AnyProcess, cellOf, deadlineOf } from '../workflows/process.js';

export type AdvanceDeps = {
  readonly lanes: Lanes;
  readonly journal: ProcessJournal;
  readonly processes: Readonly<Record<string, HostedProcess>>;
};

export type Advanced = StepAnswer & { readonly state: Instance['state'] };

/** @throws Error when no process of that name is hosted: a programming error. */
export const hosted = (processes: AdvanceDeps['processes'], name: string): HostedProcess => {
  const found = Object.hasOwn(processes, name) ? processes[name] : undefined;
  if (found === undefined) throw new Error(`no process is named ${name}`);
  return found;
};

/**
 * One whole step of any process: load and fold, look the cells up, record the events in one append, answer. An engine calls this for one process at a time. Several servers may race: the loser folds what the winner recorded and decides
 * again, so a repeat or a race adds no second event.
 * @throws Rejection from a cell; BUSY when the same command has begun another process of this kind (a repeat
 *   finds that one); CONFLICT after DECIDE_ATTEMPTS; and what the event store raises.
 */
export const advance = (
  deps: AdvanceDeps,
  ref: ProcessRef,
  inputs: readonly ProcessInput[],
  by: CommandContext,
): Promise<Advanced> =>
  deps.journal.runExclusive(processKey(ref), () =>
    // Two attempts at one command may come under two ids. The second must read what the first has recorded.
    deps.journal.runExclusive(`command ${ref.stream} ${by.commandId}`, () => step(deps, ref, inputs, by)),
  );

const step = async (
  deps: AdvanceDeps,
  ref: ProcessRef,
  inputs: readonly ProcessInput[],
  by: CommandContext,
): Promise<Advanced> => {
  const host = hosted(deps.processes, ref.process);
  const recorded = await record(deps, host, ref, inputs, by);
  return { ...recorded, answer: host.process.answer(recorded.state, inputs.at(-1)) as unknown };
};

type StepRecord = { readonly state: Instance['state']; readonly revision: number; readonly position: number };

const record = async (
  { journal, lanes }: AdvanceDeps,
  host: HostedProcess,
  ref: ProcessRef,
  inputs: readonly ProcessInput[],
  by: CommandContext,
): Promise<StepRecord> => {
  const { process, fold } = host;
  const timeMs = parseProcessId(ref.id)?.timeMs ?? 0;
  let atLeast = -1;
  let sent = false;
  const result = decideAndAppend<unknown, StepRecord>(
    lanes,
    { stream: ref.stream, fold, context: by, timeMs },
    async (count) => {
      // It was sent and not written: another writer was faster, so the stream is read to its end.
      if (sent) atLeast = Number.MAX_SAFE_INTEGER;
      // Good enough to append from, because the append shows whether another writer was faster. Anything else reads the stream.
      const remembered = count === 0 ? journal.remembered(ref) : undefined;
      const before = remembered ?? (await journal.load(process, ref, atLeast));
      // The same command under another id: the caller gave up an earlier attempt, which was carried out all the same.
      if (before.sequence === 0 && before.rivals.includes(by.commandId)) throw new Rejection('BUSY', { retryAfter: 1 });
      const factsOf = await host.prepare(ref, before.state, inputs, by);
      return {
        decide: (lane) => {
          const drafts = refusalOr(() => decide(process, before, inputs, factsOf(lane.state), ref, by));
          if (drafts instanceof Rejection || drafts.length === 0) return drafts;
          // The lane has read events that were not folded. One of them may be this very step, recorded by another server.
          if (lane.readRevision > before.through) {
            atLeast = lane.readRevision;
            return 'outdated';
          }
          sent = true;
          return drafts;
        },
        conclude: async (lane, seen, refusal) => {
          if (remembered !== undefined) return null;
          // Only what no cell looked at the facts for rests on the process alone, which was read to its end.
          if (refusal !== null || !isIgnored(process, before, inputs)) {
            const standing = await durable(lanes, lane, seen);
            if (standing?.revision !== seen.revision) return null;
          }
          if (refusal !== null) throw refusal;
          return { state: before.state, revision: Math.max(lane.confirmedRevision, before.through), position: 0 };
        },
        recorded: ({ events, revision, position }) => {
          const { state } = journal.recorded(process, ref, before, events);
          return { state, revision, position };
        },
      };
    },
  );
  return result.catch((error: unknown) => {
    // Only the stream can tell whether a failed append was written.
    if (sent) journal.forget(ref);
    throw error;
  });
};

const isIgnored = (process: AnyProcess, { state }: Instance, inputs: readonly ProcessInput[]): boolean =>
  inputs.every((input) => cellOf(process, state, input) === 'ignore');

/** A refusal that a cell throws is treated like any other: what was remembered may be the reason. */
const refusalOr = <T>(decided: () => T): T | Rejection => {
  try {
    return decided();
  } catch (thrown) {
    if (thrown instanceof Rejection) return thrown;
    throw thrown;
  }
};

/** The drafts that the inputs make, one after the other. The last carries the process's mark if that changed. */
const decide = (
  process: AnyProcess,
  before: Instance,
  inputs: readonly ProcessInput[],
  facts: unknown,
  ref: ProcessRef,
  by: CommandContext,
): readonly EventDraft[] => {
  let state = before.state;
  const drafts: EventDraft[] = [];
  for (const input of inputs) {
    const cell = cellOf(process, state, input);
    if (cell === 'ignore') continue;
    if ('reject' in cell) throw new Rejection(cell.reject);
    for (const event of cell.emit(state, input, facts)) {
      drafts.push(event);
      state = process.evolve(state, {
        ...event,
        revision: -1,
        meta: { at: '', commandId: by.commandId, schemaVersion: schemaVersionOf(event.type) },
      }) as Instance['state'];
    }
  }
  const last = drafts.at(-1);
  const mark = markOf(process, ref, state);
  const unchanged = before.sequence > 0 && sameMark(mark, markOf(process, ref, before.state));
  return last === undefined || unchanged ? drafts : [...drafts.slice(0, -1), { ...last, process: mark }];
};

const markOf = (process: AnyProcess, { process: name, id }: ProcessRef, state: Instance['state']): ProcessMark => ({
  name,
  id,
  open: !process.over(state),
  due: deadlineOf(process, state)?.at ?? null,
});

const sameMark = (left: ProcessMark, right: ProcessMark): boolean => left.open === right.open && left.due === right.due;
