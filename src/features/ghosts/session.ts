import { act, heldBack } from './domain/act.js';
import type { Outcome } from './domain/deed.js';
import { beginTally, noteStep, type StepFacts, type Tally } from './domain/tally.js';
import { noteTime } from './domain/step-times.js';
import { ghostContextOf, npcStateOf, observe } from './domain/observation.js';
import { playerBrief, surroundingsOf } from './domain/player-brief.js';
import { beginPlan, type GhostGoal, type LastStep, type Plan, type Policy } from './domain/policy.js';
import { isDone, policies } from './domain/policies.js';
import type { GhostPlan, GhostStepEvent, PlayedTurn } from './domain/events.js';
import { beginWorld, type World } from './domain/world.js';
import type { Level } from '../levels/domain/level.js';
import { npcEvents, type Verdict, type VerdictGrounds } from '../npcs/domain/events.js';
import type { Sliced } from '../../kernel/base/sliced.js';
import { defined } from '../../kernel/base/defined.js';
import { cutText } from '../../kernel/base/text.js';
import { informed } from './report-world.js';
import { afterTurn, beginSessionMind, GHOST_MEMORIES, NPC_MEMORIES, type SessionMind } from './session-mind.js';
import {
  type SessionTurnPrompt,
  beginSessionTurn,
  type BegunTurn,
  playSessionTurn,
  type SpokenText,
} from './session-turn.js';

/** The fixed part of a session, as opposed to what has happened in it. */
export type Setting = {
  readonly level: Level;
  readonly goal: GhostGoal;
  readonly seed: number;
  readonly steps: number;
  /** Produces the ghost's text; null if an engine does. */
  readonly policy: Policy | null;
  /**
   * The task that the ghost is given along with its surroundings, whether an engine or a script speaks: an engine knows no other. Null if the
   * original texts were a policy's.
   */
  readonly briefedOn: GhostGoal | null;
};

/** The state of a session after `step` steps: plain JSON of bounded size, which is a checkpoint. */
export type SessionState = {
  readonly step: number;
  readonly world: World;
  readonly plan: Plan;
  readonly last: LastStep | null;
  /** An NPC's answer in the last step. */
  readonly heard: string | null;
  readonly ghost: SessionMind;
  /** The minds of NPCs that were spoken to, and how often, by id. */
  readonly npcs: Readonly<Record<string, NpcInSession>>;
  readonly tally: Tally;
};

type NpcInSession = { readonly mind: SessionMind; readonly asked: number };
type StepData = Extract<GhostStepEvent, { type: 'GhostStepped' }>['data'];

/** The id of a ghost's mind in its turns. An NPC with that name is a different mind: NPCs' turns are identified by who was spoken to. */
export const GHOST = 'ghost';
/** How much of an answer the ghost hears, in UTF-16 units. */
const HEARD_CHARS = 300;

export const settingOf = (
  level: Level,
  { goal, seed, steps, engine }: Pick<GhostPlan, 'goal' | 'seed' | 'steps' | 'engine'>,
): Setting => ({
  ...{ level, goal, seed, steps },
  ...(engine === undefined ? { policy: policies[goal], briefedOn: null } : { policy: null, briefedOn: goal }),
});

/** A session before its first step. */
export const beginSession = (setting: Setting): SessionState => {
  const { level, seed, policy } = setting;
  return {
    step: 0,
    world: beginWorld(level),
    plan: policy === null ? beginPlan(level, seed) : policy.begin(level, seed),
    last: null,
    heard: null,
    ghost: beginSessionMind(personaOf(setting)),
    npcs: {},
    tally: beginTally(level),
  };
};

/** The ghost's persona: a policy knows its goal, an engine must be given it. */
const personaOf = ({ level, briefedOn }: Setting): string =>
  briefedOn === null ? level.persona : playerBrief(level, briefedOn);

/** Whether no step follows. */
export const isPlayed = ({ level, goal, steps }: Setting, { step, world, plan }: SessionState): boolean =>
  step >= steps || isDone(goal, level, world, plan);

type Decided = { readonly verdict: Verdict; readonly grounds: VerdictGrounds };
/** The result of a step, played or read. */
type PlayedStep = {
  readonly deed: GhostDeed;
  readonly plan: Plan;
  readonly ghostTurn: PlayedTurn & Decided;
  readonly npcTurn: (PlayedTurn & Decided) | null;
  readonly error: string | null;
};

/** The world after an action, and its outcome; if the mind refused, the outcome that it would have had. */
type GhostDeed = { readonly world: World; readonly allowed: Outcome | null; readonly missed: Outcome | null };

const deedOf = ({ level }: Setting, { world }: SessionState, verdict: Verdict): GhostDeed => {
  if (verdict.valid) {
    const done = act(level, world, verdict.action ?? {});
    return { world: done.world, allowed: done.outcome, missed: null };
  }
  const missed =
    verdict.refusedAction === undefined || verdict.refusedAction === null
      ? null
      : act(level, world, verdict.refusedAction).outcome;
  return { world: heldBack(world, verdict.dialogue), allowed: null, missed };
};

const settle = (
  { level }: Setting,
  state: SessionState,
  { deed, plan, ghostTurn, npcTurn, error }: PlayedStep,
): SessionState => {
  const { verdict } = ghostTurn;
  const { world, allowed, missed } = deed;
  const action = verdict.valid ? verdict.action : null;
  const step = state.step + 1;
  const spokenTo = allowed?.ok === true ? allowed.heardBy : undefined;
  const before = knownNpc(state, spokenTo ?? '');
  const npcs =
    spokenTo === undefined || npcTurn === null
      ? state.npcs
      : {
          ...state.npcs,
          [spokenTo]: {
            mind: afterTurn(before?.mind ?? npcMind(level, spokenTo), npcTurn, NPC_MEMORIES),
            asked: (before?.asked ?? 0) + 1,
          },
        };
  return {
    step,
    world,
    plan,
    last: { valid: verdict.valid, action, outcome: allowed },
    heard: npcTurn === null ? null : `${npcTurn.npcId} says: ${cutText(npcTurn.verdict.dialogue, HEARD_CHARS)}`,
    ghost: afterTurn(state.ghost, ghostTurn, GHOST_MEMORIES),
    npcs,
    tally: noteStep(level, state.tally, {
      step,
      revision: step - 1,
      before: state.world,
      after: world,
      action: action ?? verdict.refusedAction ?? null,
      verdictValid: verdict.valid,
      refusalCode: verdict.code ?? null,
      outcome: allowed,
      outcomeIfAllowed: missed,
      verdicts: [
        judged(level.ruleset?.rulesetId, ghostTurn),
        ...(npcTurn === null ? [] : [judged(npcOf(level, npcTurn.npcId)?.ruleset?.rulesetId, npcTurn)]),
      ],
      ...defined({ error: error ?? undefined }),
    }),
  };
};

/** The rules that matched in a verdict, with their ruleset. */
const judged = (rulesetId: string | undefined, { grounds }: Decided): StepFacts['verdicts'][number] => ({
  rulesetId: rulesetId ?? null,
  matched: grounds.rules.flatMap(({ drRuleId, matched }) => (matched ? [drRuleId] : [])),
});

const npcOf = (level: Level, npcId: string) => level.npcs.find(({ id }) => id === npcId);
/** Own members only: NPCs may have any name. */
const knownNpc = ({ npcs }: SessionState, npcId: string): NpcInSession | undefined =>
  Object.hasOwn(npcs, npcId) ? npcs[npcId] : undefined;
const npcMind = (level: Level, npcId: string): SessionMind => beginSessionMind(npcOf(level, npcId)?.persona ?? '');

/** The record of a step, and the session after it. */
export type TakenStep = { readonly record: StepData; readonly state: SessionState };

/** A step that only lacks the ghost's text. It is finished once, in slices. */
export type BegunStep = {
  readonly asked: SessionTurnPrompt;
  readonly finish: (said: SpokenText, plan: Plan) => Sliced<TakenStep>;
};

/**
 * Begins the next step of a session, in slices: a turn of the ghost. The ghost's text then leads to its action in the world, and to a turn of the NPC
 * that it spoke to. Nothing is written.
 */
export function* beginStep(setting: Setting, state: SessionState): Sliced<BegunStep> {
  const { level, briefedOn } = setting;
  const turn = yield* beginSessionTurn({
    npcId: GHOST,
    turnId: `g${String(state.step + 1)}`,
    ...informed({ level, world: state.world }, { mind: state.ghost, ruleset: level.ruleset, most: GHOST_MEMORIES }),
    // The mind's own persona takes precedence; the task need not be in every step.
    persona: level.persona,
    ruleset: level.ruleset,
    observation: [state.heard, observe(level, state.world)].filter((part) => part !== null).join(' '),
    // Long names of objects may fill a prompt's room for the context, so the surroundings come first.
    context: {
      ...(briefedOn === null ? {} : { surroundings: surroundingsOf(level, state.world) }),
      ...ghostContextOf(level, state.world),
    },
    npcState: npcStateOf(level, state.world),
  });
  return { asked: turn.asked, finish: (said, plan) => finishStep(setting, state, { turn, said, plan }) };
}

/** Plays the next step of a session, in slices, with a policy's text. */
export function* playStep(setting: Setting, state: SessionState, policy: Policy): Sliced<TakenStep> {
  const { plan, ...said } = policy.next(setting.level, state.world, state.plan, state.last);
  return yield* (yield* beginStep(setting, state)).finish(said, plan);
}

function* finishStep(
  setting: Setting,
  state: SessionState,
  { turn, said, plan }: { readonly turn: BegunTurn; readonly said: SpokenText; readonly plan: Plan },
): Sliced<TakenStep> {
  const step = state.step + 1;
  const { played, verdict, grounds, broken } = turn.finish(said);
  const deed = deedOf(setting, state, verdict);
  const { allowed: outcome } = deed;
  const spokenTo = outcome?.ok === true ? outcome.heardBy : undefined;
  const answered =
    spokenTo === undefined
      ? null
      : yield* answerOf(setting, state, deed.world, { npcId: spokenTo, words: verdict.dialogue });
  const next = settle(setting, state, {
    deed,
    plan,
    ghostTurn: { ...played, verdict, grounds },
    npcTurn: answered === null ? null : { ...answered.played, verdict: answered.verdict, grounds: answered.grounds },
    error: broken,
  });
  const record: StepData = {
    step,
    turns: answered === null ? [played] : [played, answered.played],
    action: verdict.valid ? verdict.action : null,
    outcome,
    ...defined({ probe: said.probe, error: broken ?? undefined }),
  };
  return { record, state: next };
}

type Heard = { readonly npcId: string; readonly words: string };

/** An NPC of the level hears the ghost, and answers in its own turn; a line of its script is its model's text. */
function* answerOf({ level }: Setting, state: SessionState, world: World, { npcId, words }: Heard) {
  const npc = npcOf(level, npcId);
  if (npc === undefined) return null;
  const { mind = npcMind(level, npcId), asked = 0 } = knownNpc(state, npcId) ?? {};
  const line = npc.says.length === 0 ? 'Hm.' : (npc.says[asked % npc.says.length] ?? '');
  const turn = {
    ...{ npcId, turnId: `n${String(state.step + 1)}`, persona: npc.persona, ruleset: npc.ruleset },
    ...informed({ level, world }, { mind, ruleset: npc.ruleset, most: NPC_MEMORIES }),
    ...{ observation: `A ghost says: ${words}`, context: {}, npcState: {} },
  };
  return yield* playSessionTurn(turn, { text: line });
}

/** The decision of a recorded turn. */
export const decidedIn = (played: PlayedTurn): Decided => {
  for (const recorded of played.events) {
    const event = npcEvents.decode({ ...recorded, meta: { schemaVersion: recorded.version } });
    if (event.type === 'VerdictReached' || event.type === 'VerdictRefused')
      return { verdict: event.data.verdict, grounds: event.data.grounds };
  }
  throw new Error('a recorded turn of a session has no verdict');
};

/** The session with the duration of its last step, in milliseconds. */
export const withTime = (state: SessionState, ms: number): SessionState => ({
  ...state,
  tally: { ...state.tally, times: noteTime(state.tally.times, state.step, state.step - 1, ms) },
});

/** The session after a step that was recorded. Texts and decisions are taken from the record, and not made again. */
export const replayStep = (setting: Setting, state: SessionState, { turns, error, ms }: StepData): SessionState => {
  const [ghostTurn, npcTurn] = turns;
  if (ghostTurn === undefined) throw new Error('a recorded step of a session has no turn');
  const { level, policy } = setting;
  const decided = decidedIn(ghostTurn);
  const next = settle(setting, state, {
    deed: deedOf(setting, state, decided.verdict),
    plan: policy === null ? state.plan : policy.next(level, state.world, state.plan, state.last).plan,
    ghostTurn: { ...ghostTurn, ...decided },
    npcTurn: npcTurn === undefined ? null : { ...npcTurn, ...decidedIn(npcTurn) },
    error: error ?? null,
  });
  return ms === undefined ? next : withTime(next, ms);
};
