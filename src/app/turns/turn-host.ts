import type { ProcessHost } from '../processes/hosted-process.js';
import type { TurnInput, TurnState } from '../../../workflows/turn/turn-state.js';
import { holdPatterns } from '../../domain/rules/hold-patterns.js';
import type { MindState } from '../../domain/npc/state.js';
import type { TurnFacts } from '../../domain/npc/decision/turn-facts.js';
import { isNpcStream, parseNpcStream } from '../../domain/shared/stream-names.js';
import type { SigningKeys } from '../../ports/signing-keys.js';
import { inSlices } from '../../concurrency/in-slices.js';
import { mindFold } from '../minds/mind.js';
import type { ChosenRuleset, Rulesets } from '../minds/rulesets.js';
import { defined } from '../../domain/shared/defined.js';

export type TurnHostDeps = {
  readonly rulesets: Rulesets;
  readonly signingKeys: Pick<SigningKeys, 'current'>;
  /** The issuer of verdicts: `iss` (contract 2.9). */
  readonly issuer: string;
};

/** The facts of a decision, from the chosen rules and the mind at this moment. */
export const factsFrom = (
  npcId: string,
  chosen: ChosenRuleset,
  mind: Pick<MindState, 'persona' | 'data' | 'revision'>,
  issuer: TurnFacts['issuer'],
  patternsHeld: readonly string[] = [],
): TurnFacts => ({
  npcId,
  mind: { persona: mind.persona, data: mind.data, revision: mind.revision },
  ruleset: chosen.ruleset,
  rulesetRef: chosen.ruleset === null ? null : { rulesetId: chosen.ruleset.rulesetId, version: chosen.ruleset.version },
  ...defined({ rulesetMissing: chosen.missing }),
  ...(patternsHeld.length === 0 ? {} : { patternsHeld }),
  issuer,
});

/**
 * How the facts of a turn's steps are found: the rules it began with, the mind, and the key that signs.
 * @param choose the rules of a turn that is opened
 */
export const prepareTurn =
  ({ rulesets, signingKeys, issuer }: TurnHostDeps, choose: Rulesets['choose']): ProcessHost['prepare'] =>
  async (ref, recorded, inputs, by) => {
    const state = recorded as TurnState;
    const npcId = parseNpcStream(ref.stream)?.npcId ?? '';
    const opening = (inputs as unknown as readonly TurnInput[]).find((input) => input.type === 'open');
    const chosen =
      state.name === 'new'
        ? await choose(by.tenant, opening?.rulesetId)
        : { ruleset: await rulesets.version(by.tenant, state.ruleset) };
    // Once a turn: what it finds is recorded with the opening.
    const held =
      opening === undefined || state.name !== 'new'
        ? []
        : await inSlices(holdPatterns(chosen.ruleset, opening.observation));
    return (mind) => factsFrom(npcId, chosen, mind as MindState, { kid: signingKeys.current.kid, iss: issuer }, held);
  };

/**
 * What the turns of bodies need.
 * @param prepareOther finds the facts of turns in minds that are not NPCs: the same process, by other rules
 */
export const turnHost = (deps: TurnHostDeps, prepareOther?: ProcessHost['prepare']): ProcessHost => {
  const prepare = prepareTurn(deps, (tenant, rulesetId) => deps.rulesets.choose(tenant, rulesetId));
  return {
    fold: mindFold,
    prepare: (ref, ...step) => (isNpcStream(ref.stream) ? prepare : (prepareOther ?? prepare))(ref, ...step),
    // A turn waits only for its client: its table has no `pending`.
    effect: (ref) => Promise.reject(new Error(`turn ${ref.id} has no effects`)),
  };
};
