import type { TurnFacts } from './domain/decision/turn-facts.js';
import { CURRENT_LOGIC, logicOf } from './domain/decision/logic.js';
import { takeRecordable } from '../../kernel/streams/take-recordable.js';
import { npcEvents, type NpcEvent, type RecalledMemory, type Speaker, type TurnKind } from '../npcs/domain/events.js';
import { makeTurnId } from './domain/turn-id.js';
import type { Json, JsonObject } from '../../kernel/base/json.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { Ports } from '../../ports/ports.js';
import { verdictEvents } from '../../../workflows/turn/turn-events.js';
import type { StreamEvent } from '../../kernel/streams/fold.js';
import type { StreamWriters } from '../../kernel/streams/stream-writers.js';
import type { Command, UncheckedDraft } from '../../kernel/streams/run-command.js';
import type { Rulesets } from '../rules/rulesets.js';
import type { RulesetUsed } from '../rules/domain/ruleset.js';
import { factsFrom } from './facts-from.js';
import { runWithRules } from './run-with-rules.js';
import { defined } from '../../kernel/base/defined.js';

/** Dependencies of the acts of the compatibility routes; `issuer` signs their verdicts. */
export type ActDeps = {
  readonly ports: Pick<Ports, 'events' | 'clock'>;
  readonly writers: StreamWriters;
  readonly rulesets: Rulesets;
  readonly issuer: () => TurnFacts['issuer'];
};

/** The inputs of every act. */
export type Act = {
  readonly npcId: string;
  readonly rulesetId?: string;
  readonly observation: string;
  readonly context: Json;
  readonly npcState: JsonObject;
  readonly player?: Speaker;
  readonly by: Command;
};

const logic = CURRENT_LOGIC;
const { effectiveInput, giveDirective, buildPrompt, reachVerdict } = logicOf(logic);

type ActEvent = 'DirectiveGiven' | 'ContextBuilt' | 'VerdictReached' | 'VerdictRefused';

/** A recorded act: its first event of the type `Type`, and the data for `Anima-Revision` and later lists. */
export type Acted<Type extends ActEvent> = {
  readonly event: Extract<NpcEvent, { type: Type }>['data'];
  readonly at: { readonly revision: number; readonly at: string };
  readonly revision: number;
  readonly position: number;
  /** Whether this call recorded it; otherwise an earlier attempt did, and it was read from the store. */
  readonly isFresh: boolean;
  readonly rulesetMissing?: string;
  /** The ruleset that the request named, if the mind is bound to another. */
  readonly rulesetIgnored?: string;
};

const act = async <Type extends ActEvent>(
  deps: ActDeps,
  asked: Act,
  kind: TurnKind,
  types: readonly Type[],
  decide: (turnId: string, facts: TurnFacts) => readonly UncheckedDraft[],
): Promise<Acted<Type>> => {
  const { npcId, by, ...brought } = asked;
  await takeRecordable(brought);
  const timeMs = deps.ports.clock.now().getTime();
  const outcome = await runWithRules(
    { ...deps.ports, writers: deps.writers },
    {
      stream: npcStream(by.tenant, npcId),
      choose: (choice) => deps.rulesets.choose(by.tenant, choice),
      ...defined({ named: asked.rulesetId }),
      observation: asked.observation,
    },
    by,
    (mind, { chosen, patternsHeld }) => {
      const turnId = makeTurnId(kind, mind.revision, timeMs, by.commandId);
      const facts = factsFrom(npcId, chosen, mind, deps.issuer(), patternsHeld);
      const missing: NpcEvent[] =
        chosen.missing === undefined ? [] : [{ type: 'RulesetMissing', data: { turnId, rulesetId: chosen.missing } }];
      return [...missing, ...decide(turnId, facts)];
    },
  );
  const first = outcome.events.find(({ type }) => (types as readonly string[]).includes(type)) as StreamEvent;
  const event = npcEvents.decode(first).data as Acted<Type>['event'];
  const missing = outcome.events.find(({ type }) => type === 'RulesetMissing')?.data['rulesetId'];
  return {
    event,
    at: { revision: first.revision, at: first.meta.at },
    revision: outcome.revision,
    position: outcome.position,
    isFresh: outcome.earlier !== true,
    ...(typeof missing === 'string' ? { rulesetMissing: missing } : {}),
    ...defined({ rulesetIgnored: rulesetUsedBy(event)?.asked }),
  };
};

const rulesetUsedBy = (event: Acted<ActEvent>['event']): RulesetUsed | null =>
  'ruleset' in event ? event.ruleset : (event.asked?.ruleset ?? null);

/** Which patterns matched, in the form for decisions and events. */
const heldIn = ({ patternsHeld }: TurnFacts): { readonly patternsHeld?: readonly string[] } =>
  defined({ patternsHeld });

/** Decides what to recall, and records it as `DirectiveGiven`. @throws Rejection EVENTS_TOO_LARGE, and as runCommand */
export const actDirective = (deps: ActDeps, asked: Act): Promise<Acted<'DirectiveGiven'>> =>
  act(deps, asked, 'directive', ['DirectiveGiven'], (turnId, facts) => {
    const { observation, context, npcState, player } = asked;
    const held = heldIn(facts);
    const { memoryRecall, trace } = giveDirective(effectiveInput(facts, { ...asked, ...held }));
    const { revision: mindRevision } = facts.mind;
    const inputs = { observation, context, npcState, ...defined({ player }), ruleset: facts.rulesetRef, ...held };
    return [{ type: 'DirectiveGiven', data: { turnId, mindRevision, logic, ...inputs, memoryRecall, ...trace } }];
  });

/** Builds the prompt to run, and records it as `ContextBuilt`. @throws Rejection EVENTS_TOO_LARGE, and as runCommand */
export const actContext = (
  deps: ActDeps,
  asked: Act & { readonly memories: readonly RecalledMemory[]; readonly persona?: string },
): Promise<Acted<'ContextBuilt'>> =>
  act(deps, asked, 'context', ['ContextBuilt'], (turnId, facts) => {
    const { observation, context, npcState, memories, persona, player } = asked;
    const held = heldIn(facts);
    const built = buildPrompt(effectiveInput(facts, { ...asked, ...held }));
    const { prompt, constraints, ctxMessages, trace } = built;
    const data = {
      turnId,
      mindRevision: facts.mind.revision,
      logic,
      observation,
      context,
      npcState,
      ...defined({ persona, player }),
      memories,
      ruleset: facts.rulesetRef,
      ...held,
      ...{ prompt, constraints, ctxMessages },
      ...trace,
    };
    return [{ type: 'ContextBuilt', data }];
  });

/** Judges a model's text, and records the verdict with its state change and memories. @throws Rejection EVENTS_TOO_LARGE, and as runCommand */
export const actVerdict = (
  deps: ActDeps,
  asked: Act & { readonly generatedOutput: string },
): Promise<Acted<'VerdictReached' | 'VerdictRefused'>> =>
  act(deps, asked, 'verdict', ['VerdictReached', 'VerdictRefused'], (turnId, facts) => {
    const { observation, context, npcState, player, generatedOutput } = asked;
    const held = heldIn(facts);
    const { verdict, grounds } = reachVerdict(effectiveInput(facts, { ...asked, ...held }), generatedOutput);
    const inputs = { observation, context, npcState, ...defined({ player }), ruleset: facts.rulesetRef, ...held };
    return verdictEvents(
      { turnId, ...defined({ player }) },
      { mindRevision: facts.mind.revision, logic, generatedOutput, verdict, grounds, asked: inputs },
      { issuer: facts.issuer, facts: facts.mind.facts },
    );
  });
