import { CommandFailed } from '../../../cli/shared/terminal.js';
import type { MindRequest } from '../../../body/mind-request.js';
import { defined } from '../../../kernel/base/defined.js';
import type { EventToDecode } from '../../../kernel/base/decoder.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { mergePatch } from '../../../kernel/base/merge-patch.js';
import { isSameJson } from '../../../kernel/base/same-json.js';
import { npcEvents, type NpcEvent } from '../../npcs/domain/events.js';
import type { RulesetUsed } from '../../rules/domain/ruleset.js';
import { CURRENT_LOGIC, logicOf } from '../domain/decision/logic.js';
import { effectiveInput } from '../domain/decision/turn-facts.js';
import type { RecordedDecision } from '../domain/rule-tests/case-of-turn.js';

/** The parts of an explained turn that are read here. */
type Why = {
  readonly endedAt?: string;
  readonly ruleset: RulesetUsed | null;
  readonly mind: { readonly data: JsonObject | null };
  readonly events: readonly { readonly revision: number; readonly type: string }[];
};
type DataOf<Type extends NpcEvent['type']> = Extract<NpcEvent, { type: Type }>['data'];

/** A recorded decision, and the set that decided. */
export type FoundDecision = { readonly decision: RecordedDecision; readonly ruleset: JsonObject };

const npcPath = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;

const eventAt = async (
  request: MindRequest,
  npcId: string,
  revision: number,
): Promise<NpcEvent['data'] | undefined> => {
  const page = (await request('GET', `${npcPath(npcId)}/history?from=${String(revision)}&limit=1`)) as {
    readonly events: readonly (Omit<EventToDecode, 'meta'> & EventToDecode['meta'])[];
  };
  const [event] = page.events;
  if (event === undefined) return undefined;
  return npcEvents.decode({ type: event.type, data: event.data, meta: { schemaVersion: event.schemaVersion } }).data;
};

/** The first event of a turn that has one of some types. */
const findEvent = async <Type extends NpcEvent['type']>(
  request: MindRequest,
  npcId: string,
  { events }: Why,
  ...types: readonly Type[]
): Promise<DataOf<Type> | undefined> => {
  const found = events.find(({ type }) => (types as readonly string[]).includes(type));
  return found === undefined
    ? undefined
    : ((await eventAt(request, npcId, found.revision)) as DataOf<Type> | undefined);
};

/** The content that decided. A preset that nobody registered is version 0, and its digest tells which of its contents it was. */
const rulesetOf = async (request: MindRequest, used: RulesetUsed): Promise<JsonObject> => {
  const { rulesetId, version, digest } = used;
  const query = new URLSearchParams({ version: String(version), ...defined({ digest }) });
  const path = `/rules/${encodeURIComponent(rulesetId)}?${query.toString()}`;
  return (await request('GET', path)) as JsonObject;
};

/**
 * Reads what a turn was decided on, and its verdict.
 * @throws CommandFailed if the turn has no verdict, or no ruleset decided it
 */
export const readDecision = async (request: MindRequest, npcId: string, turnId: string): Promise<FoundDecision> => {
  const why = (await request('GET', `${npcPath(npcId)}/verdicts/${encodeURIComponent(turnId)}/why`)) as Why;
  const reached = await findEvent(request, npcId, why, 'VerdictReached', 'VerdictRefused');
  if (reached === undefined)
    throw new CommandFailed(
      `Turn ${turnId} has no verdict${why.endedAt === undefined ? ' yet' : ''}, so there is nothing to record.`,
    );
  if (why.ruleset === null) throw new CommandFailed(`No ruleset decided turn ${turnId}, so it has no rules to test.`);
  const asked = reached.asked ?? (await findEvent(request, npcId, why, 'TurnOpened'));
  if (asked === undefined)
    throw new CommandFailed(`An older server recorded turn ${turnId}, without what it was decided on.`);
  const identified = await findEvent(request, npcId, why, 'ActorIdentified');
  const actor = identified?.actor ?? (asked as Partial<DataOf<'TurnOpened'>>).actor;
  const { mindRevision: revision, generatedOutput, verdict, grounds } = reached;
  const { facts } = (
    revision < 0 ? { facts: {} } : await request('GET', `${npcPath(npcId)}/state?asOf=${String(revision)}`)
  ) as { readonly facts: JsonObject };
  const mind = { persona: null, data: why.mind.data, facts, revision };
  const none = { ruleset: null, rulesetRef: null, issuer: { kid: '', iss: '' } };
  const { observation, context, npcState } = asked;
  const input = effectiveInput(
    { npcId, mind, ...none },
    { observation, context: context ?? {}, npcState, ...defined({ actor }) },
    logicOf(CURRENT_LOGIC).texts,
  );
  // The data of an actor that is too large to keep is seen by the rules alone.
  const isPatch = isSameJson(mergePatch(input.data, npcState), input.npcState);
  return {
    decision: {
      input,
      npcState: isPatch ? npcState : input.npcState,
      output: generatedOutput,
      verdict,
      ...defined({ replacedBy: grounds.replacedBy }),
    },
    ruleset: await rulesetOf(request, why.ruleset),
  };
};
