import { DECIDE_ATTEMPTS, othersKeptWriting } from '../src/kernel/streams/attempts.js';
import type { StreamWriters } from '../src/kernel/streams/stream-writers.js';
import type { DraftToPlace } from '../src/kernel/streams/place-events.js';
import type { Instance, ProcessRepository } from '../src/kernel/processes/process-repository.js';
import { currentVersion } from '../src/kernel/base/decoder.js';
import { parseProcessId } from '../src/kernel/crypto/process-id.js';
import { Rejection } from '../src/kernel/base/rejection.js';
import type { ProcessWithEffects } from '../src/kernel/processes/process-effects.js';
import type { ProcessMark } from '../src/ports/event-store.js';
import type { CommandContext } from '../src/kernel/base/command-context.js';
import { type StepAnswer, type ProcessInput, processKey, type ProcessRef } from '../src/ports/process-runtime.js';
import { type AnyStateMachine, transitionOf, deadlineOf } from '../src/kernel/processes/state-machine.js';

export type AdvanceDeps = {
  readonly writers: StreamWriters;
  readonly repository: ProcessRepository;
  readonly processes: Readonly<Record<string, ProcessWithEffects>>;
};

export type Advanced = StepAnswer & { readonly state: Instance['state'] };

/** @throws Error for a name that no process has: a programming error */
export const processNamed = (processes: AdvanceDeps['processes'], name: string): ProcessWithEffects => {
  const found = Object.hasOwn(processes, name) ? processes[name] : undefined;
  if (found === undefined) throw new Error(`no process is named ${name}`);
  return found;
};

/**
 * One complete step of any process: load and fold, look up the transitions, record the events in one append, answer. A runtime calls this for one
 * process at a time. Several servers may race: the loser folds what the winner recorded and decides again, so a repeat or a race adds no second
 * event.
 * @throws Rejection from a transition; BUSY if the same command has begun another process of this kind (a repeat finds that one); SOUL_ARRIVING if
 *   only another command may write; CONFLICT after DECIDE_ATTEMPTS; and what the event store throws
 */
export const advance = (
  deps: AdvanceDeps,
  ref: ProcessRef,
  inputs: readonly ProcessInput[],
  by: CommandContext,
): Promise<Advanced> =>
  deps.repository.runExclusive(processKey(ref), () =>
    // Two attempts at one command may come under two ids. The second must read what the first has recorded.
    deps.repository.runExclusive(`command ${ref.stream} ${by.commandId}`, () => step(deps, ref, inputs, by)),
  );

const step = async (
  { repository, writers, processes }: AdvanceDeps,
  ref: ProcessRef,
  inputs: readonly ProcessInput[],
  by: CommandContext,
): Promise<Advanced> => {
  const effects = processNamed(processes, ref.process);
  const { process } = effects;
  const timeMs = parseProcessId(ref.id)?.timeMs ?? 0;
  const answered = (state: Instance['state'], revision: number, position: number): Advanced => ({
    ...{ state, revision, position },
    answer: process.answer(state, inputs.at(-1)) as unknown,
  });
  /** The revision up to which the process must have been read. */
  let atLeast = -1;
  for (let attempt = 0; attempt < DECIDE_ATTEMPTS; attempt += 1) {
    // Load. The cached state suffices to append from: the append shows whether another writer was faster. Anything else reads the stream.
    const remembered = attempt === 0 ? repository.remembered(ref) : undefined;
    const before = remembered ?? (await repository.load(process, ref, atLeast));
    // The same command under another id: the caller abandoned an earlier attempt, which was carried out all the same.
    if (before.sequence === 0 && before.rivals.includes(by.commandId)) throw new Rejection('BUSY', { retryAfter: 1 });
    const opened = await writers.open(ref.stream, effects.fold);
    const factsOf = await effects.prepare(ref, before.state, inputs, by, opened.state);
    const writer = await writers.open(ref.stream, effects.fold);
    if (writer.isHeldFrom(by)) {
      await writer.requireFree(by);
      continue;
    }

    // Decide. Nothing is awaited from here to the append: the events must follow from exactly what precedes them.
    const seen = { state: writer.state, revision: writer.revision };
    const facts = factsOf(seen.state);
    if (facts === undefined) continue;
    const decided = refusalOr(() => decide(effects, before, inputs, facts, ref, by));

    if (decided instanceof Rejection || decided.length === 0) {
      // Nothing to append. If no transition used the facts, the answer depends on the process alone, read to its end; else on the stream's end.
      if (remembered !== undefined) continue;
      const isCertain = !(decided instanceof Rejection) && isIgnored(process, before, inputs);
      if (!isCertain && (await writer.durable(seen))?.revision !== seen.revision) continue;
      if (decided instanceof Rejection) throw decided;
      return answered(before.state, Math.max(writer.confirmedRevision, before.through), 0);
    }

    if (writer.readRevision > before.through) {
      // The writer has read events that were not folded. One of them may be this very step, recorded by another server.
      atLeast = Math.max(atLeast, writer.readRevision);
      continue;
    }

    // Append.
    const recorded = await writer.append(decided, by, timeMs).catch((error: unknown) => {
      // Only the stream can show whether it was written.
      repository.forget(ref);
      throw error;
    });
    if (recorded !== null) {
      const { state } = repository.recorded(process, ref, before, recorded.events);
      return answered(state, recorded.revision, recorded.position);
    }
    // Another writer was faster: from now on the process is read to the stream's end.
    atLeast = Number.MAX_SAFE_INTEGER;
  }
  throw othersKeptWriting();
};

const isIgnored = (process: AnyStateMachine, { state }: Instance, inputs: readonly ProcessInput[]): boolean =>
  inputs.every((input) => transitionOf(process, state, input) === 'ignore');

/** A refusal that a transition throws is treated like any other: the cached state may be the reason. */
const refusalOr = <T>(decided: () => T): T | Rejection => {
  try {
    return decided();
  } catch (thrown) {
    if (thrown instanceof Rejection) return thrown;
    throw thrown;
  }
};

/** The drafts that the inputs produce, in order. The last carries the process's mark if that changed. */
const decide = (
  { process, fold }: ProcessWithEffects,
  before: Instance,
  inputs: readonly ProcessInput[],
  facts: unknown,
  ref: ProcessRef,
  by: CommandContext,
): readonly DraftToPlace[] => {
  let state = before.state;
  const drafts: DraftToPlace[] = [];
  for (const input of inputs) {
    const transition = transitionOf(process, state, input);
    if (transition === 'ignore') continue;
    if ('reject' in transition) throw new Rejection(transition.reject);
    for (const event of transition.emit(state, input, facts)) {
      drafts.push(event);
      state = process.evolve(state, {
        ...event,
        revision: -1,
        meta: { at: '', commandId: by.commandId, schemaVersion: currentVersion(fold, event.type) },
      }) as Instance['state'];
    }
  }
  const last = drafts.at(-1);
  const mark = markOf(process, ref, state);
  const unchanged = before.sequence > 0 && sameMark(mark, markOf(process, ref, before.state));
  return last === undefined || unchanged ? drafts : [...drafts.slice(0, -1), { ...last, process: mark }];
};

const markOf = (
  process: AnyStateMachine,
  { process: name, id }: ProcessRef,
  state: Instance['state'],
): ProcessMark => ({
  name,
  id,
  open: !process.over(state),
  due: deadlineOf(process, state)?.at ?? null,
});

const sameMark = (left: ProcessMark, right: ProcessMark): boolean => left.open === right.open && left.due === right.due;
