import type { ProcessEffects } from '../../src/kernel/processes/process-effects.js';
import type { TurnInput, TurnState } from '../../workflows/turn/turn-state.js';
import { heldPatterns } from '../../src/features/turns/domain/decision/observation-line.js';
import type { MindState } from '../../src/features/npcs/domain/state.js';
import { isNpcStream, parseNpcStream } from '../../src/kernel/base/stream-names.js';
import type { SigningKeys } from '../../src/ports/signing-keys.js';
import { inSlices } from '../../src/kernel/concurrency/in-slices.js';
import { mindFold } from '../../src/features/npcs/mind-fold.js';
import { factsFrom } from '../../src/features/turns/facts-from.js';
import type { ChosenRuleset, Rulesets } from '../../src/features/rules/rulesets.js';

export type TurnEffectsDeps = {
  readonly rulesets: Rulesets;
  readonly signingKeys: Pick<SigningKeys, 'current'>;
  /** The `iss` claim of verdicts. */
  readonly issuer: string;
};

/**
 * How the facts of a turn's steps are found: the rules it began with, the mind, and the key that signs.
 * @param choose the rules of a turn that is opened
 */
export const prepareTurn =
  ({ rulesets, signingKeys, issuer }: TurnEffectsDeps, choose: Rulesets['choose']): ProcessEffects['prepare'] =>
  async (ref, recorded, inputs, by, streamState) => {
    const state = recorded as TurnState;
    const npcId = parseNpcStream(ref.stream)?.npcId ?? '';
    const opening = (inputs as unknown as readonly TurnInput[]).find((input) => input.type === 'open');
    const { rulesetId: bound } = streamState as MindState;
    const chosen: ChosenRuleset =
      state.name === 'new'
        ? await choose(by.tenant, { bound, named: opening?.rulesetId })
        : { ruleset: await rulesets.version(by.tenant, state.ruleset), used: state.ruleset };
    // Once a turn: the outcome is recorded with the opening.
    const held =
      opening === undefined || state.name !== 'new'
        ? []
        : await inSlices(heldPatterns(chosen.ruleset, opening.observation));
    return (current) => {
      const mind = current as MindState;
      // The mind was bound to other rules in the meantime.
      if (state.name === 'new' && mind.rulesetId !== bound) return undefined;
      return factsFrom(npcId, chosen, mind, { kid: signingKeys.current.kid, iss: issuer }, held);
    };
  };

/**
 * What the turns of bodies need.
 * @param prepareOther finds the facts of turns in minds that are not NPCs: the same process, by other rules
 */
export const turnEffects = (deps: TurnEffectsDeps, prepareOther?: ProcessEffects['prepare']): ProcessEffects => {
  const prepare = prepareTurn(deps, (tenant, choice) => deps.rulesets.choose(tenant, choice));
  return {
    fold: mindFold,
    prepare: (ref, ...step) => (isNpcStream(ref.stream) ? prepare : (prepareOther ?? prepare))(ref, ...step),
    // A turn waits only for its client: its state machine has no `pending`.
    effect: (ref) => Promise.reject(new Error(`turn ${ref.id} has no effects`)),
  };
};
