import { act, heldBack } from '../../domain/ghost/act.js';
import type { Outcome } from '../../domain/ghost/deed.js';
import { noteStep, type StepFacts } from '../../domain/ghost/note-step.js';
import { noteTime } from '../../domain/ghost/step-times.js';
import { beginTally, type Tally } from '../../domain/ghost/tally.js';
import { ghostContextOf, npcStateOf, observe } from '../../domain/ghost/observation.js';
import type { GhostGoal, LastStep, Plan, Policy, Utterance } from '../../domain/ghost/policy.js';
import { isDone, policies } from '../../domain/ghost/policies.js';
import type { GhostStepEvent, PlayedTurn } from '../../domain/ghost/session-events.js';
import { beginWorld, type World } from '../../domain/ghost/world.js';
import type { Level } from '../../domain/level/level.js';
import { npcEvents } from '../../domain/npc/decoder.js';
import type { Verdict, VerdictGrounds } from '../../domain/npc/events.js';
import type { Sliced } from '../../domain/rules/hold-patterns.js';
import { defined } from '../../domain/shared/defined.js';
import { cutText } from '../../domain/shared/text.js';
import { afterTurn, beginSessionMind, GHOST_MEMORIES, NPC_MEMORIES, type SessionMind } from './session-mind.js';
import { playSessionTurn } from './session-turn.js';

/** What a session is, beside what has happened in it. */
export type Setting = {
  readonly level: Level;
  readonly goal: GhostGoal;
  readonly seed: number;
  readonly steps: number;
  readonly policy: Policy;
};

/** Where a session stands after `step` steps: plain JSON of bounded size, which a checkpoint is. */
export type SessionState = {
  readonly step: number;
  readonly world: World;
  readonly plan: Plan;
  readonly last: LastStep | null;
  /** What an NPC has answered in the last step. */
  readonly heard: string | null;
  readonly ghost: SessionMind;
  /** The minds of NPCs that were spoken to, and how often each was, by their ids. */
  readonly npcs: Readonly<Record<string, NpcInSession>>;
  readonly tally: Tally;
};

type NpcInSession = { readonly mind: SessionMind; readonly asked: number };
type StepData = Extract<GhostStepEvent, { type: 'GhostStepped' }>['data'];

/** What a ghost's mind is called in its turns. An NPC of that name is another mind: theirs are told by who was spoken to. */
const GHOST = 'ghost';
/** How much of an answer the ghost hears, in UTF-16 units. */
const HEARD_CHARS = 300;

export const settingOf = (
  level: Level,
  { goal, seed, steps }: { readonly goal: GhostGoal; readonly seed: number; readonly steps: number },
): Setting => ({ level, goal, seed, steps, policy: policies[goal] });

/** A session before its first step. */
export const beginSession = ({ level, seed, policy }: Setting): SessionState => ({
  step: 0,
  world: beginWorld(level),
  plan: policy.begin(level, seed),
  last: null,
  heard: null,
  ghost: beginSessionMind(level.persona),
  npcs: {},
  tally: beginTally(level),
});

/** Whether no step follows. */
export const isPlayed = ({ level, goal, steps }: Setting, { step, world, plan }: SessionState): boolean =>
  step >= steps || isDone(goal, level, world, plan);

type Decided = { readonly verdict: Verdict; readonly grounds: VerdictGrounds };
/** What a step led to, played or read. */
type PlayedStep = {
  readonly deed: GhostDeed;
  readonly spoken: Utterance;
  readonly ghostTurn: PlayedTurn & Decided;
  readonly npcTurn: (PlayedTurn & Decided) | null;
  readonly error: string | null;
};

/** The world after an action, and what came of it; where the mind refused, what would have come of it. */
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
  { deed, spoken, ghostTurn, npcTurn, error }: PlayedStep,
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
    plan: spoken.plan,
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

/** Which rules of which set matched in a verdict (contract 10.2). */
const judged = (rulesetId: string | undefined, { grounds }: Decided): StepFacts['verdicts'][number] => ({
  rulesetId: rulesetId ?? null,
  matched: grounds.rules.flatMap(({ drRuleId, matched }) => (matched ? [drRuleId] : [])),
});

const npcOf = (level: Level, npcId: string) => level.npcs.find(({ id }) => id === npcId);
/** Own members only: NPCs may have any name. */
const knownNpc = ({ npcs }: SessionState, npcId: string): NpcInSession | undefined =>
  Object.hasOwn(npcs, npcId) ? npcs[npcId] : undefined;
const npcMind = (level: Level, npcId: string): SessionMind => beginSessionMind(npcOf(level, npcId)?.persona ?? '');

/**
 * Plays the next step of a session, in slices: a turn of the ghost, its action in the world, and a turn of the NPC that it spoke to. Nothing is
 * written.
 * @returns what is to be recorded, and the session after it
 */
export function* playStep(
  setting: Setting,
  state: SessionState,
): Sliced<{ readonly record: StepData; readonly state: SessionState }> {
  const { level, policy } = setting;
  const step = state.step + 1;
  const spoken = policy.next(level, state.world, state.plan, state.last);
  const { played, verdict, grounds, broken } = yield* playSessionTurn({
    npcId: GHOST,
    turnId: `g${String(step)}`,
    mind: state.ghost,
    persona: level.persona,
    ruleset: level.ruleset,
    observation: [state.heard, observe(level, state.world)].filter((part) => part !== null).join(' '),
    context: ghostContextOf(level, state.world),
    npcState: npcStateOf(level, state.world),
    text: spoken.text,
    ...defined({ probe: spoken.probe }),
  });
  const deed = deedOf(setting, state, verdict);
  const { allowed: outcome } = deed;
  const spokenTo = outcome?.ok === true ? outcome.heardBy : undefined;
  const answered = spokenTo === undefined ? null : yield* answerOf(setting, state, spokenTo, verdict.dialogue);
  const next = settle(setting, state, {
    deed,
    spoken,
    ghostTurn: { ...played, verdict, grounds },
    npcTurn: answered === null ? null : { ...answered.played, verdict: answered.verdict, grounds: answered.grounds },
    error: broken,
  });
  const record: StepData = {
    step,
    turns: answered === null ? [played] : [played, answered.played],
    action: verdict.valid ? verdict.action : null,
    outcome,
    ...defined({ probe: spoken.probe, error: broken ?? undefined }),
  };
  return { record, state: next };
}

/** An NPC of the level hears the ghost, and answers in a turn of its own; a line of its script is what its model says. */
function* answerOf({ level }: Setting, state: SessionState, npcId: string, words: string) {
  const npc = npcOf(level, npcId);
  if (npc === undefined) return null;
  const { mind = npcMind(level, npcId), asked = 0 } = knownNpc(state, npcId) ?? {};
  const line = npc.says.length === 0 ? 'Hm.' : (npc.says[asked % npc.says.length] ?? '');
  return yield* playSessionTurn({
    npcId,
    turnId: `n${String(state.step + 1)}`,
    mind,
    persona: npc.persona,
    ruleset: npc.ruleset,
    observation: `A ghost says: ${words}`,
    context: {},
    npcState: {},
    text: line,
  });
}

const decidedIn = (played: PlayedTurn): Decided => {
  for (const recorded of played.events) {
    const event = npcEvents.decode({ ...recorded, meta: { schemaVersion: recorded.version } });
    if (event.type === 'VerdictReached' || event.type === 'VerdictRefused')
      return { verdict: event.data.verdict, grounds: event.data.grounds };
  }
  throw new Error('a recorded turn of a session has no verdict');
};

/** The session with what its last step took, in milliseconds. */
export const withTime = (state: SessionState, ms: number): SessionState => ({
  ...state,
  tally: { ...state.tally, times: noteTime(state.tally.times, state.step, state.step - 1, ms) },
});

/** The session after a step that was recorded. What was decided is taken from the record, and not decided again. */
export const replayStep = (setting: Setting, state: SessionState, { turns, error, ms }: StepData): SessionState => {
  const [ghostTurn, npcTurn] = turns;
  if (ghostTurn === undefined) throw new Error('a recorded step of a session has no turn');
  const { level, policy } = setting;
  const decided = decidedIn(ghostTurn);
  const next = settle(setting, state, {
    deed: deedOf(setting, state, decided.verdict),
    spoken: policy.next(level, state.world, state.plan, state.last),
    ghostTurn: { ...ghostTurn, ...decided },
    npcTurn: npcTurn === undefined ? null : { ...npcTurn, ...decidedIn(npcTurn) },
    error: error ?? null,
  });
  return ms === undefined ? next : withTime(next, ms);
};
