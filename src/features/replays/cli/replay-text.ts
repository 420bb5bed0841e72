import { differenceKinds, type SkipReason } from '../domain/difference-kinds.js';
import { isObject, type JsonObject } from '../../../kernel/base/json.js';
import { cutText } from '../../../kernel/base/text.js';
import type { ShownReplay } from '../http/shown-results.js';
import { table } from '../../../cli/shared/terminal.js';

/** A replay as its routes return it. */
export type ReplayView = (typeof ShownReplay)['static'];
export type ShownSample = ReplayView['samples'][number];

/** Outcomes are cut to this many characters. */
const OUTCOME_CHARS = 240;
/** How many equal characters are shown before a difference. */
const LEAD_CHARS = 30;
/** How many NPCs are named for each kind of difference. */
const NAMED_NPCS = 8;

const whole = (count: number): string => count.toLocaleString('en');

/** `1 turn`, `1,204 turns`. */
export const numbered = (count: number, one: string, many: string): string =>
  `${whole(count)} ${count === 1 ? one : many}`;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A refused action: by which rule and why. @param said whether to add what the player hears */
const refusalText = ({ dialogue, reason, code, details }: JsonObject, said: boolean): string => {
  const drRuleId = isObject(details) ? textOf(details['drRuleId']) : '';
  const line = said && typeof dialogue === 'string' ? `, saying ${JSON.stringify(dialogue)}` : '';
  return `refused${drRuleId === '' ? '' : ` by ${drRuleId}`}: ${textOf(reason ?? dialogue)} (${textOf(code)})${line}`;
};

/** Verdicts, recalls and prompts as text; anything else as JSON. */
const outcomeText = (outcome: unknown, said: boolean): string => {
  if (!isObject(outcome)) return JSON.stringify(outcome);
  const { valid, action, dialogue } = outcome;
  if (valid === false) return refusalText(outcome, said);
  if (valid === true && isObject(action)) {
    const deed = [textOf(action['type']), textOf(action['target'])].filter((word) => word !== '').join(' ');
    return `${deed}: ${JSON.stringify(dialogue ?? '')}`;
  }
  const { instruction } = outcome;
  if (isObject(instruction) && typeof instruction['query'] === 'string')
    return `recall ${JSON.stringify(instruction['limit'])} by ${JSON.stringify(instruction['query'])}`;
  if (isObject(instruction) && typeof instruction['prompt'] === 'string') return JSON.stringify(instruction['prompt']);
  return JSON.stringify(outcome);
};

/** The index at which two texts begin to differ. */
const firstDifference = (one: string, other: string): number => {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
};

/** Two outcomes, one line each. Long texts with the same beginning, such as prompts, are shown from where they differ. */
const outcomeTexts = (was: unknown, would: unknown): readonly [string, string] => {
  const texts = (said: boolean): readonly [string, string] => [outcomeText(was, said), outcomeText(would, said)];
  const isSame = texts(false)[0] === texts(false)[1];
  const [before, after] = texts(isSame);
  const begin = firstDifference(before, after) - LEAD_CHARS;
  const shown = (text: string): string =>
    cutText(begin > LEAD_CHARS && text.length > OUTCOME_CHARS ? `…${text.slice(begin)}` : text, OUTCOME_CHARS);
  return [shown(before), shown(after)];
};

/** The recorded and the new outcome, in three lines. */
export const sampleLines = ({ npcId, turnId, revision, kind, was, would }: ShownSample): readonly string[] => {
  const [before, after] = outcomeTexts(was, would);
  return [
    `${kind}: ${npcId} ${turnId ?? 'bridge check'} (revision ${String(revision)})`,
    `  was:   ${before}`,
    `  would: ${after}`,
  ];
};

/** The gravest kinds of difference first. */
export const bySeverity = (samples: readonly ShownSample[]): readonly ShownSample[] =>
  differenceKinds.flatMap((kind) => samples.filter((sample) => sample.kind === kind));

/** The number of differences of a kind, and the NPCs that have them; `…` when not all are named. */
const kindLine = ({ differences, samples }: ReplayView, kind: string): readonly string[] => {
  const count = differences[kind] ?? 0;
  const known = samples.filter((sample) => sample.kind === kind);
  const npcIds = [...new Set(known.map(({ npcId }) => npcId))];
  const isAll = known.length >= count && npcIds.length <= NAMED_NPCS;
  const names = [...npcIds.slice(0, NAMED_NPCS), ...(isAll ? [] : ['…'])].join(', ');
  return count === 0 ? [] : [`  ${kind.padEnd(13)} ${whole(count).padEnd(6)} ${names}`.trimEnd()];
};

/** Why a decision could not be made again. */
const lacking: Readonly<Record<SkipReason, string>> = {
  logic: 'this server does not have its decision logic',
  rules: 'this server does not have the rules of that time',
  turn: 'the opening of its turn is not before it',
};

/** Each decision that could not be made again, and each mind that was set aside. */
export const notReplayedLines = ({ notReplayed = [], setAside }: ReplayView): readonly string[] => [
  ...notReplayed.map(
    ({ npcId, turnId, revision, reason }) =>
      `not replayed: ${npcId} ${turnId ?? 'bridge check'} (revision ${String(revision)}): ${lacking[reason]}`,
  ),
  ...(setAside?.named ?? []).map(({ npcId, reason }) => `set aside: ${npcId}: ${reason}`),
];

const skippedLine = ({ turns, skipped }: ReplayView): readonly string[] => {
  if (turns.skipped === 0) return [];
  const why = Object.entries(skipped).flatMap(([reason, count]) => (count === 0 ? [] : `${reason} ${whole(count)}`));
  return [`Skipped: ${why.join(', ')} (these decisions cannot be replayed here)`];
};

const ruleLines = ({ rules }: ReplayView): readonly string[] => {
  if (rules.length === 0) return [];
  const hasErrors = rules.some(({ errors }) => errors > 0);
  return [
    '',
    ...table([
      ['RULE', 'MATCHED', 'WOULD', 'DECIDED', 'SHADOWED', ...(hasErrors ? ['ERRORS'] : [])],
      ...rules.map(({ rulesetId, drRuleId, matched, decided, shadowed, errors }) => [
        `${rulesetId} ${drRuleId}`,
        ...[matched.was, matched.would, decided, shadowed, ...(hasErrors ? [errors] : [])].map(whole),
      ]),
    ]),
  ];
};

/** The decisions that come out differently whatever the rules are, each with the record and what the current logic makes of it. */
const logicLines = ({ byLogic }: ReplayView, samples: number): readonly string[] =>
  byLogic === undefined || byLogic.decisions === 0
    ? []
    : [
        '',
        `By the current logic, ${numbered(byLogic.decisions, 'decision differs', 'decisions differ')} from the record under the rules of that time:`,
        ...bySeverity(byLogic.samples).slice(0, samples).flatMap(sampleLines),
      ];

/** Where the turns were found: of all histories, only some may have a decision that was asked for. */
const histories = ({ minds, concerned = minds }: ReplayView): string =>
  concerned === minds
    ? numbered(minds, 'history', 'histories')
    : `${whole(concerned)} of ${numbered(minds, 'history', 'histories')}`;

/** A replay as text. @param samples how many differences are shown */
export const replayLines = (replay: ReplayView, samples: number): readonly string[] => {
  const { status, reason, turns } = replay;
  const why = reason === undefined ? '' : ` (${reason})`;
  const left = replay.samples.length - samples;
  return [
    `${status}${why}: ${numbered(turns.checked, 'turn', 'turns')} in ${histories(replay)}, ${whole(turns.equal)} equal, ${whole(turns.different)} different, ${whole(turns.skipped)} skipped`,
    ...differenceKinds.flatMap((kind) => kindLine(replay, kind)),
    ...skippedLine(replay),
    ...notReplayedLines(replay),
    ...(replay.trial ? ruleLines(replay) : []),
    ...bySeverity(replay.samples)
      .slice(0, samples)
      .flatMap((sample) => ['', ...sampleLines(sample)]),
    ...logicLines(replay, samples),
    ...(left > 0 ? ['', `${whole(left)} more (raise --samples to see them)`] : []),
  ];
};
