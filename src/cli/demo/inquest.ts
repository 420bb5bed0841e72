import type { MindClient } from '../../body/mind-client.js';
import type { FoundMemory, HistoryEvent, JsonMembers, JsonValue, TurnRecord } from '../../body/protocol.js';
import { counted, plain, short, wrapped } from './text.js';

/** What one refusal rested on: the turn as recorded, and the event that ended it, for its place in the hash chain. */
export type Inquest = { readonly turn: TurnRecord; readonly ending: HistoryEvent | null };

/** Reads the turn and the event of its last round. @throws MindError */
export const inquire = async (mind: MindClient, npcId: string, turnId: string): Promise<Inquest> => {
  const turn = await mind.turn(npcId, turnId);
  const last = turn.rounds.at(-1);
  if (last === undefined) return { turn, ending: null };
  const page = await mind.history(npcId, { from: last.revision, limit: 1 });
  return { turn, ending: page.events[0] ?? null };
};

const LABEL = 14;
const row = (label: string, text: string): string[] => wrapped(text, ' '.repeat(2 + LABEL), `  ${label.padEnd(LABEL)}`);
const object = (value: JsonValue | undefined): JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMembers) : {};
const list = (value: JsonValue | undefined): readonly JsonMembers[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).map((each) => object(each)) : [];
const word = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : plain(value ?? null));

const ruleText = (rule: JsonMembers, seen: ReadonlyMap<string, JsonValue>): string => {
  const saw = list(rule['conditions']).map(({ key, expected, holds }) => {
    const value = seen.get(word(key)) ?? null;
    return `${word(key)} ${word(expected)}: saw ${value === null ? 'nothing' : plain(value)}${holds === true ? '' : ', no'}`;
  });
  const pattern = rule['patternHolds'];
  if (typeof pattern === 'boolean') saw.push(pattern ? 'the words fit' : 'the words do not fit');
  return `${word(rule['drRuleId'])} ${rule['matched'] === true ? 'matched' : 'did not match'}${saw.length === 0 ? '' : ` (${saw.join('; ')})`}`;
};

const checkText = ({ brRuleId, passed, code, details }: JsonMembers): string =>
  passed === true
    ? `${word(brRuleId)} passed`
    : `${word(brRuleId)} REFUSED: ${word(code)}${details === undefined ? '' : ` (${plain(details)})`}`;

const memoryText = ({ text, similarity }: FoundMemory): string => ` “${short(text, 60)}” (${similarity.toFixed(2)})`;

/** The inputs of a turn, round by round. */
const roundRows = ({ rounds }: TurnRecord): string[] =>
  rounds.flatMap(({ result, instruction }, index) => {
    const label = `round ${String(index + 1)}`;
    const answer = instruction.type;
    switch (result?.type) {
      case undefined:
        return row(label, `opened, answered ${answer}`);
      case 'IdentifyActorResult':
        return row(label, `the actor: ${result.actor.persona ?? result.actor.npcId}; answered ${answer}`);
      case 'QueryVectorResult':
        return row(
          label,
          `${counted(result.memories.length, 'memory', 'memories')}${result.memories.map(memoryText).join(',')}; answered ${answer}`,
        );
      case 'ExecuteInferenceResult':
        return row(label, `the model wrote: ${short(result.generatedOutput, 300)}`);
    }
  });

/** What the refusal rested on, for the terminal. */
export const showInquest = ({ turn, ending }: Inquest): string[] => {
  const verdict = object(turn.verdict ?? undefined);
  const details = object(verdict['details']);
  const seen = new Map(list(verdict['seen']).map(({ key, value }) => [word(key), value ?? null]));
  return [
    ...row(
      'ruleset',
      turn.ruleset === null ? 'none' : `${turn.ruleset.rulesetId}, version ${String(turn.ruleset.version)}`,
    ),
    ...roundRows(turn),
    ...list(verdict['rules']).flatMap((rule) => row('rule', ruleText(rule, seen))),
    ...list(verdict['checks']).flatMap((check) => row('check', checkText(check))),
    ...row('verdict', `refused, ${word(verdict['code'])}: ${word(verdict['dialogue'])}`),
    ...(Object.keys(details).length === 0 ? [] : row('details', plain(details))),
    ...(ending === null
      ? []
      : row('recorded', `revision ${String(ending.revision)}, ${ending.type}, hash ${ending.hash.slice(0, 16)}…`)),
  ];
};
