import { StreamWriter } from '../../src/kernel/streams/stream-writer.js';
import type { TurnFacts } from '../../src/features/turns/domain/decision/turn-facts.js';
import { evolveSummary, initialSummary } from '../../src/features/npcs/domain/state.js';
import { npcStream } from '../../src/kernel/base/stream-names.js';
import type { Clock } from '../../src/ports/clock.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { transitionOf } from '../../src/kernel/processes/state-machine.js';
import { turn } from '../../workflows/turn/turn.js';
import { noFold, turnInputs } from '../turn-history.js';

export const REPLAYED_TENANT = 'local';
const DEADLINE = '9999-12-31T23:59:59.999Z';
/** How many minds are written concurrently: their appends share commits. */
const MINDS_AT_ONCE = 100;

/** Plays complete turns of one mind as the server does, each decided on the mind's state at that time. @returns how many events that were */
const playMind = async (
  { store, clock }: { readonly store: EventStore; readonly clock: Clock },
  npcId: string,
  turns: number,
): Promise<number> => {
  const writer = new StreamWriter(npcStream(REPLAYED_TENANT, npcId), noFold, store, clock);
  await writer.load();
  let mind = initialSummary;
  let events = 0;
  for (let index = 0; index < turns; index += 1) {
    const turnId = `t${String(index)}`;
    let state = turn.initial;
    for (const [step, input] of turnInputs(index, turnId, DEADLINE).entries()) {
      const facts: TurnFacts = {
        ...{ npcId, mind: { persona: mind.persona, data: mind.data, facts: {}, revision: mind.revision } },
        ...{ ruleset: null, rulesetRef: null, issuer: { kid: 'bench', iss: 'http://127.0.0.1:8080' } },
      };
      const transition = transitionOf(turn, state, input);
      if (transition === 'ignore' || 'reject' in transition)
        throw new Error(`a turn ${state.name} takes no ${input.type}`);
      const commandId = `${turnId}-${String(step)}`;
      const context = {
        tenant: REPLAYED_TENANT,
        actor: 'bench',
        commandId,
        correlationId: commandId,
        causationId: null,
      };
      const recorded = await writer.append(transition.emit(state, input, facts), context, clock.now().getTime());
      if (recorded === null) throw new Error('somebody else writes to this store');
      for (const event of recorded.events) {
        state = turn.evolve(state, event);
        mind = evolveSummary(mind, event);
      }
      events += recorded.events.length;
    }
  }
  return events;
};

/** Writes the histories of this many minds, and names them in their order. */
export const writePlayedMinds = async (
  to: { readonly store: EventStore; readonly clock: Clock },
  { minds, turns }: { readonly minds: number; readonly turns: number },
): Promise<{ readonly npcIds: readonly string[]; readonly events: number }> => {
  const npcIds = Array.from({ length: minds }, (_, index) => `inn-${String(index)}`).sort();
  let events = 0;
  for (let from = 0; from < minds; from += MINDS_AT_ONCE) {
    const played = npcIds.slice(from, from + MINDS_AT_ONCE).map((npcId) => playMind(to, npcId, turns));
    events += (await Promise.all(played)).reduce((sum, count) => sum + count, 0);
  }
  return { npcIds, events };
};
