import { LRUCache } from 'lru-cache';

import type { Finding } from './domain/findings.js';
import { withoutLoops } from './domain/cut-loops.js';
import { beginMinimising, type Minimising, noteTrial, trialOf } from './domain/minimise.js';
import type { GhostGoal } from './domain/policy.js';
import type { ScriptedText } from './domain/scripted.js';
import { byShortestWays, type DoneThere, lastingSteps, type SaidAndDone } from './domain/shortest-ways.js';
import type { Level } from '../levels/domain/level.js';
import type { LevelRef } from '../levels/domain/ref.js';
import { defined } from '../../kernel/base/defined.js';
import { type Json, jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { weightOf } from '../../kernel/base/weight.js';
import type { Clock } from '../../ports/clock.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { type PlayDeps, settingFor, stepsStreamOf } from './play-slice.js';
import { replayScript } from './replay-reproduction.js';
import { pagesOfSteps } from './steps-log.js';

export const REPRO_FORMAT = 'anima-ghost-repro/1';
/** How long one request searches for a shorter script, in milliseconds. */
const SEARCH_MS = 10_000;
/** How much memory all searches together may take, in bytes as counted by `weightOf`: more than the largest one. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** How many unfinished searches a process keeps, so that a repeat can continue. */
const KEPT_SEARCHES = 64;
/** The limit of a script, in texts; later findings are not searched for. */
export const SCRIPT_TEXTS = 20_000;
/** The limit of a script, in bytes of JSON: with the largest map it fits into `POST /ghost/replay` (16 MiB). */
export const SCRIPT_BYTES = 12 * 1024 * 1024;
const TOO_LATE = `The finding occurred after the first ${String(SCRIPT_TEXTS)} steps or ${String(SCRIPT_BYTES)} bytes of texts, and later steps are not searched.`;
const NOT_AGAIN = 'Replaying the same texts from the beginning does not lead to the finding.';
const OTHER_WORLD = 'This finding occurred in the world of a game, which this server cannot replay.';
const NO_STEPS_FOR_IT = 'The duration of a step depends on the machine, so no script can reproduce it.';
const NO_REPRODUCTION =
  'This finding is about something that did not happen at any point of the session, so no shorter script can show it.';

/** A finding with the fewest texts of the ghost known to lead to it. */
export type Reproduction = {
  readonly format: typeof REPRO_FORMAT;
  readonly sessionId: string;
  readonly finding: Pick<Finding, 'kind' | 'subject' | 'detail'>;
  readonly level: LevelRef;
  /** The Tiled map of a registered level; null for a built-in or generated one. */
  readonly map: Json;
  readonly goal: GhostGoal;
  readonly seed: number;
  /** True if an engine produced the texts in the script: it was given more than a policy. Otherwise absent. */
  readonly engine?: true;
  readonly script: readonly ScriptedText[];
  readonly steps: number;
  readonly minimal: boolean;
};

/**
 * What is being shortened: first the steps with lasting effects, joined by the shortest paths, then the texts that these make; texts from the start
 * if such paths do not lead to the finding. `bytes`: its maximum size, as it only gets shorter.
 */
type ScriptSearch = Parts & { readonly state: Minimising; readonly bytes: number };
type Parts =
  | { readonly of: 'steps'; readonly parts: readonly DoneThere[] }
  | { readonly of: 'texts'; readonly parts: readonly ScriptedText[] };

export type Searches = LRUCache<string, ScriptSearch>;
export const createSearches = (): Searches =>
  new LRUCache({ max: KEPT_SEARCHES, maxSize: KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes });

export type ReproduceDeps = Pick<PlayDeps, 'events' | 'levels' | 'pace'> & {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly searches: Searches;
};

/** The ghost's texts and actions in the first steps of a session, up to the limit of a script. Propagates errors from the event store. */
const saidIn = async (events: PlayDeps['events'], stream: string): Promise<readonly SaidAndDone[]> => {
  const said: SaidAndDone[] = [];
  let left = SCRIPT_BYTES;
  for await (const steps of pagesOfSteps(events, stream)) {
    for (const { turns, probe, action } of steps) {
      const decided = turns[0]?.events.find(({ type }) => type === 'VerdictReached' || type === 'VerdictRefused');
      const text = decided?.data['generatedOutput'];
      const next = { text: typeof text === 'string' ? text : '', ...defined({ probe }) };
      left -= jsonBytes(next);
      if (left < 0 || said.length === SCRIPT_TEXTS) return said;
      said.push({ ...next, action });
    }
  }
  return said;
};

/**
 * The shortest script known to lead to a finding of a session. A search that takes too long continues with the next call.
 * @throws Rejection FINDING_NOT_FOUND; errors from the levels and the event store; the reason of the signal
 */
export const reproduce = async (
  deps: ReproduceDeps,
  {
    tenant,
    session,
    finding,
  }: { readonly tenant: string; readonly session: GhostAnswer; readonly finding: Finding | undefined },
  signal: AbortSignal | undefined,
): Promise<Reproduction> => {
  if (finding === undefined) throw new Rejection('FINDING_NOT_FOUND');
  // Something that never happened in an entire session cannot be shown in fewer steps.
  if (finding.kind === 'rule_never_fired' && finding.fromStep > 0)
    throw new Rejection('FINDING_NOT_FOUND', { message: NO_REPRODUCTION });
  // Findings made while it played happened in the world of its game.
  if (session.driver === 'remote' && finding.fromStep > 0)
    throw new Rejection('FINDING_NOT_FOUND', { message: OTHER_WORLD });
  if (finding.kind === 'slow_step') throw new Rejection('FINDING_NOT_FOUND', { message: NO_STEPS_FOR_IT });
  const { clock, events, pace, searches } = deps;
  const asked = { ...session, tenant };
  const { level, briefedOn } = await settingFor(deps, asked);
  const untilMs = clock.monotonicMs() + SEARCH_MS;
  // The first scripts are the longest, and without them there is no answer.
  const limit = { signal, clock, untilMs: untilMs + SEARCH_MS };
  const leadsThere = async (script: readonly ScriptedText[]): Promise<boolean> => {
    const { findings } = await replayScript(pace, level, { script, briefedOn }, limit);
    return findings.some(({ kind, subject }) => kind === finding.kind && subject === finding.subject);
  };
  const key = `${tenant} ${session.sessionId} ${finding.kind} ${finding.subject}`;
  let search = searches.get(key);
  if (search === undefined) {
    const all = await saidIn(events, stepsStreamOf(asked));
    const begun = await beginSearch(level, all, finding.fromStep, leadsThere);
    if (begun === null)
      throw new Rejection('FINDING_NOT_FOUND', { message: finding.fromStep > all.length ? TOO_LATE : NOT_AGAIN });
    search = begun;
  }
  for (;;) {
    if (search.of === 'steps' && search.state.ended !== null)
      search = searchOf({ of: 'texts', parts: await scriptOf(level, search) });
    searches.set(key, search);
    const trial = trialOf(search.state);
    if (trial === null || clock.monotonicMs() >= untilMs) break;
    search = { ...search, state: noteTrial(search.state, await leadsThere(await scriptOf(level, search, trial))) };
  }
  const shortest = await scriptOf(level, search);
  const { sessionId, goal, seed } = session;
  const text = session.level.version === null ? null : await deps.levels.mapOf(session.level.digest);
  const { kind, subject, detail } = finding;
  return {
    ...{ format: REPRO_FORMAT, sessionId, finding: { kind, subject, detail }, level: session.level },
    map: text === null ? null : (JSON.parse(text) as Json),
    ...{ goal, seed, ...(briefedOn === null ? {} : { engine: true as const }) },
    ...{ script: shortest, steps: shortest.length, minimal: search.of === 'texts' && search.state.ended === 'minimal' },
  };
};

const textsOf = (said: readonly SaidAndDone[]): readonly ScriptedText[] => said.map(({ action: _, ...text }) => text);

const pick = <Part>(parts: readonly Part[], positions: readonly number[]): readonly Part[] =>
  positions.flatMap((position) => parts[position] ?? []);

/** The script made from some parts of a search, by default from the remaining ones. */
const scriptOf = async (
  level: Level,
  search: Pick<ScriptSearch, 'state'> & Parts,
  positions = search.state.kept,
): Promise<readonly ScriptedText[]> =>
  search.of === 'texts'
    ? pick(search.parts, positions)
    : inSlices(byShortestWays(level, pick(search.parts, positions)));

const searchOf = (parts: Parts): ScriptSearch => {
  const state = beginMinimising(parts.parts.length);
  return { ...parts, state, bytes: weightOf({ parts: parts.parts, state }) };
};

/** A search that begins with the first scripts that lead to the finding, shorter ones first; null if none does. */
const beginSearch = async (
  level: Level,
  all: readonly SaidAndDone[],
  fromStep: number,
  leadsThere: (script: readonly ScriptedText[]) => Promise<boolean>,
): Promise<ScriptSearch | null> => {
  const before = all.slice(0, fromStep);
  const actions = before.map(({ action }) => action);
  const lasting = await inSlices(lastingSteps(level, before));
  const direct = pick(before, await inSlices(withoutLoops(level, actions)));
  const tried: readonly Parts[] = [
    { of: 'texts', parts: [] },
    // The actual text at the time of the finding comes before a synthesised path that reproduces it by chance.
    { of: 'texts', parts: textsOf(before.slice(-1)) },
    { of: 'steps', parts: lasting },
    ...[direct, before, all].map((said) => ({ of: 'texts' as const, parts: textsOf(said) })),
  ];
  for (const parts of tried) {
    const search = searchOf(parts);
    if (await leadsThere(await scriptOf(level, search))) return search;
  }
  return null;
};
