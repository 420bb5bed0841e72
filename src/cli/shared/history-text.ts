import type { HistoryEvent, JsonMembers, JsonValue } from '../../body/protocol.js';

const GIST_CHARS = 100;

const members = (value: JsonValue | undefined): JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMembers) : {};
const items = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : [];
const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const quoted = (value: JsonValue | undefined): string => (text(value) === '' ? '' : `"${text(value)}"`);
const json = (value: JsonValue | undefined): string => (value === undefined ? '' : JSON.stringify(value));

const action = (value: JsonValue | undefined): string => {
  const { type, target } = members(value);
  return text(target) === '' ? text(type) : `${text(type)} -> ${text(target)}`;
};

/** A verdict in short: action and dialogue, or the refused action and why. */
const verdict = ({ verdict: value }: JsonMembers): string => {
  const { valid, code, dialogue, action: done, refusedAction } = members(value);
  return (valid === true ? [action(done)] : [text(code), action(refusedAction)])
    .concat(quoted(dialogue))
    .filter(Boolean)
    .join(' ');
};

/** What an NPC perceives, after the player who says it. */
const said = (observation: JsonValue | undefined, player: JsonValue | undefined): string => {
  const { id, name } = members(player);
  const speaker = text(name ?? id);
  return speaker === '' ? quoted(observation) : `${speaker}: ${quoted(observation)}`;
};

/** A short text for each type of event; other types are shown as their data. */
const gists: Readonly<Record<string, (data: JsonMembers) => string>> = {
  NpcRegistered: ({ persona, data }) => [quoted(persona), json(data)].filter(Boolean).join(' '),
  NpcUpdated: ({ persona, data }) => [quoted(persona), json(data)].filter(Boolean).join(' '),
  RulesetBound: ({ rulesetId }) => (rulesetId === null ? 'to none' : `to ${quoted(rulesetId)}`),
  NpcArchived: () => '',
  TurnOpened: ({ observation, player, resumedFrom }) =>
    [said(observation, player), resumedFrom === undefined ? '' : `resumed from ${text(resumedFrom)}`]
      .filter(Boolean)
      .join(' '),
  RulesetMissing: ({ rulesetId }) => `no ruleset ${quoted(rulesetId)}`,
  ActorIdentified: ({ actor }) =>
    [text(members(actor)['npcId']), quoted(members(actor)['persona'])].filter(Boolean).join(' '),
  MemoriesRecalled: ({ memories }) =>
    items(memories)
      .map((memory) => quoted(members(memory)['text']))
      .join(', ') || 'none',
  VerdictReached: verdict,
  VerdictRefused: verdict,
  StateChanged: ({ patch }) => json(patch),
  FactsReported: ({ facts }) => json(facts),
  MemoryStored: ({ text: stored, type }) => [text(type), quoted(stored)].join(' '),
  MemoryConfirmed: ({ memoryId }) => text(memoryId),
  RecallReported: ({ query, memories }) => `${quoted(query)} ${String(items(memories).length)} recalled`,
  MemoriesCleared: ({ count }) => `${json(count)} memories`,
  MemoriesRetracted: ({ memoryIds, reason }) => `${String(items(memoryIds).length)} memories: ${text(reason)}`,
  AnswerMissing: ({ attempt, reason }) => `attempt ${json(attempt)}: ${text(reason)}`,
  PromptShortened: ({ budget, reason }) => `to ${json(budget)} tokens: ${text(reason)}`,
  TurnFailed: ({ reason }) => text(reason),
  TurnExpired: () => '',
  TapeMismatchNoticed: ({ members: differing }) =>
    items(differing)
      .map((one) => text(members(one)['member']))
      .join(', '),
  DirectiveGiven: ({ observation, player }) => said(observation, player),
  ContextBuilt: ({ observation, player }) => said(observation, player),
  BridgeChecked: ({ action: checked, valid, code }) => `${action(checked)} ${valid === true ? 'allowed' : text(code)}`,
  SoulWithdrawn: ({ txId }) => `${text(txId)} from the archive`,
  ChainBreakRecorded: ({ revision, member }) => `${text(member)} of revision ${json(revision)} does not match`,
};

const short = (line: string): string => {
  const chars = [...line.replace(/\s+/g, ' ').trim()];
  return chars.length <= GIST_CHARS ? chars.join('') : `${chars.slice(0, GIST_CHARS - 1).join('')}…`;
};

/** One event on one line: revision, time (UTC), type, gist and turn. The mark of a broken event comes before what it claims. */
export const eventLine = ({ revision, at, type, turnId, data, broken }: HistoryEvent): string => {
  const gist = short((Object.hasOwn(gists, type) ? gists[type] : undefined)?.(data) ?? json(data));
  const head = `${String(revision).padStart(6)}  ${at.slice(0, 10)} ${at.slice(11, 23)}  ${type.padEnd(19)}`;
  return [head, broken === true ? 'BROKEN' : '', gist, ...(turnId === undefined ? [] : [`[${turnId}]`])]
    .filter(Boolean)
    .join('  ')
    .trimEnd();
};
