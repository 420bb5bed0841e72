import type { EventDraft } from '../../src/kernel/base/event-draft.js';
import type { DirectiveRuleSet } from '../../src/features/rules/domain/ruleset.js';
import type { TurnFacts } from '../../src/features/turns/domain/decision/turn-facts.js';
import { evolveSummary, initialSummary } from '../../src/features/npcs/domain/state.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { transitionOf } from '../../src/kernel/processes/state-machine.js';
import { turn } from '../../workflows/turn/turn.js';
import { turnInputs } from '../../bench/turn-history.js';
import { recorded } from './histories.js';
import { heldBy } from './rules.js';

const DEADLINE = '9999-12-31T23:59:59.999Z';

/** The stream of a mind with this many complete turns, each decided with these rules by the state machine that serves every body. */
export const playedMind = (
  npcId: string,
  turns: number,
  rules: DirectiveRuleSet | null,
  inputsOf = turnInputs,
  before: readonly EventDraft[] = [],
): readonly RecordedEvent[] => {
  const events = [...recorded(npcStream('studio', npcId), before)];
  let mind = events.reduce(evolveSummary, initialSummary);
  for (let index = 0; index < turns; index += 1) {
    let state = turn.initial;
    for (const input of inputsOf(index, `t${String(index)}`, DEADLINE)) {
      const facts: TurnFacts = {
        npcId,
        mind: { persona: mind.persona, data: mind.data, facts: mind.facts ?? {}, revision: mind.revision },
        ruleset: rules,
        rulesetRef: rules === null ? null : { rulesetId: rules.rulesetId, version: rules.version },
        ...(input.type === 'open' && rules !== null ? { patternsHeld: heldBy(rules, input.observation) } : {}),
        issuer: { kid: 'test', iss: 'http://test' },
      };
      const transition = transitionOf(turn, state, input);
      if (transition === 'ignore' || 'reject' in transition)
        throw new Error(`a turn that is ${state.name} takes no ${input.type}`);
      for (const event of recorded(npcStream('studio', npcId), transition.emit(state, input, facts), events.length)) {
        state = turn.evolve(state, event);
        mind = evolveSummary(mind, event);
        // As a store returns it.
        events.push(JSON.parse(JSON.stringify(event)) as RecordedEvent);
      }
    }
  }
  return events;
};
