import { reachVerdict } from '../../../../src/features/turns/domain/decision/verdict.js';
import type { Action } from '../../../../src/features/rules/domain/bridge/action.js';
import { act } from '../../../../src/features/ghosts/domain/act.js';
import { ghostContextOf, npcStateOf, observe } from '../../../../src/features/ghosts/domain/observation.js';
import { budgetOf, isDone, policies } from '../../../../src/features/ghosts/domain/policies.js';
import type { GhostGoal, LastStep, Plan, ProtocolProbe } from '../../../../src/features/ghosts/domain/policy.js';
import { beginTally, noteStep, type Tally } from '../../../../src/features/ghosts/domain/tally.js';
import { beginWorld, type World } from '../../../../src/features/ghosts/domain/world.js';
import type { Level } from '../../../../src/features/levels/domain/level.js';
import { anInput } from '../../../support/rules.js';

export type Played = {
  readonly world: World;
  readonly plan: Plan;
  readonly tally: Tally;
  readonly steps: number;
  readonly texts: readonly string[];
  readonly kinds: ReadonlySet<string>;
  readonly probes: ReadonlySet<ProtocolProbe>;
};

/** State as a checkpoint returns it. */
const stored = <State>(state: State): State => JSON.parse(JSON.stringify(state)) as State;

/**
 * Plays a level as a session does: observation, policy, decision of the mind, effect on the world. With `stored`, all state goes through JSON at
 * each step.
 */
export const play = (
  level: Level,
  goal: GhostGoal,
  { seed = 1, steps = budgetOf(goal, level), checkpoint = false } = {},
): Played => {
  const policy = policies[goal];
  let world = beginWorld(level);
  let plan = policy.begin(level, seed);
  let tally = beginTally(level);
  let last: LastStep | null = null;
  let step = 0;
  const texts: string[] = [];
  const kinds = new Set<string>();
  const probes = new Set<ProtocolProbe>();
  while (step < steps && !isDone(goal, level, world, plan)) {
    step += 1;
    const spoken = policy.next(level, world, plan, last);
    const input = anInput({
      observation: observe(level, world),
      context: ghostContextOf(level, world),
      npcState: npcStateOf(level, world),
      ruleset: level.ruleset,
    });
    const { verdict, grounds } = reachVerdict(input, spoken.text);
    const refused = verdict.refusedAction ?? null;
    const acted = verdict.valid && verdict.action !== null ? act(level, world, verdict.action) : null;
    const after = acted?.world ?? world;
    const action: Action | null = verdict.valid ? verdict.action : refused;
    const outcome = acted?.outcome ?? null;
    tally = noteStep(level, tally, {
      step,
      revision: step * 5,
      before: world,
      after,
      action,
      verdictValid: verdict.valid,
      refusalCode: verdict.code ?? null,
      outcome,
      outcomeIfAllowed: refused === null ? null : act(level, world, refused).outcome,
      verdicts: [
        {
          rulesetId: level.ruleset?.rulesetId ?? null,
          matched: grounds.rules.filter(({ matched }) => matched).map(({ drRuleId }) => drRuleId),
        },
      ],
    });
    last = { valid: verdict.valid, action, outcome };
    [world, plan] = [after, spoken.plan];
    if (checkpoint) [world, plan, tally] = stored([world, plan, tally] as const);
    texts.push(spoken.text);
    kinds.add(spoken.kind);
    if (spoken.probe !== undefined) probes.add(spoken.probe);
  }
  return { world, plan, tally, steps: step, texts, kinds, probes };
};
