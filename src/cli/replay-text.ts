import { differenceKinds } from '../domain/replay/difference-kinds.js';
import { isObject } from '../domain/shared/json.js';
import { cutText } from '../domain/shared/text.js';
import { table } from './terminal.js';

type KindCounts = Readonly<Record<string, number>>;
export type ShownSample = {
  readonly npcId: string;
  readonly turnId: string | null;
  readonly revision: number;
  readonly kind: string;
  readonly was: unknown;
  readonly would: unknown;
};

/** A replay as its routes tell it (contract 10.3). */
export type ReplayShown = {
  readonly replayId: string;
  readonly status: string;
  readonly trial: boolean;
  readonly reason?: string;
  readonly progress: number;
  readonly minds: number;
  readonly unknown: readonly string[];
  readonly decisions: number;
  readonly turns: {
    readonly checked: number;
    readonly equal: number;
    readonly different: number;
    readonly skipped: number;
  };
  readonly skipped: KindCounts;
  readonly differences: KindCounts;
  readonly rules: readonly {
    readonly rulesetId: string;
    readonly drRuleId: string;
    readonly matched: { readonly was: number; readonly would: number };
    readonly decided: number;
    readonly shadowed: number;
  }[];
  readonly samples: readonly ShownSample[];
};

/** How much of an outcome is shown on its line, in characters. */
const OUTCOME_CHARS = 240;

const whole = (count: number): string => count.toLocaleString('en');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A verdict in words; anything else as JSON. */
const outcomeText = (outcome: unknown): string => {
  if (!isObject(outcome)) return JSON.stringify(outcome);
  const { valid, action, dialogue, reason, code } = outcome;
  if (valid === false) return `refused: ${textOf(dialogue ?? reason)} (${textOf(code)})`;
  if (valid === true && isObject(action)) {
    const deed = [textOf(action['type']), textOf(action['target'])].filter((word) => word !== '').join(' ');
    return `${deed}: ${JSON.stringify(dialogue ?? '')}`;
  }
  return JSON.stringify(outcome);
};

/** What was and what would be, in three lines. */
export const sampleLines = ({ npcId, turnId, revision, kind, was, would }: ShownSample): readonly string[] => [
  `${kind}: ${npcId} ${turnId ?? 'a check of the bridge'} (revision ${String(revision)})`,
  `  was:   ${cutText(outcomeText(was), OUTCOME_CHARS)}`,
  `  would: ${cutText(outcomeText(would), OUTCOME_CHARS)}`,
];

const skippedLine = ({ turns, skipped }: ReplayShown): readonly string[] => {
  if (turns.skipped === 0) return [];
  const why = Object.entries(skipped).flatMap(([reason, count]) => (count === 0 ? [] : `${reason} ${whole(count)}`));
  return [`Skipped: ${why.join(', ')} (what decided then is not to be had here)`];
};

const ruleLines = ({ rules }: ReplayShown): readonly string[] =>
  rules.length === 0
    ? []
    : [
        '',
        ...table([
          ['RULE', 'MATCHED', 'WOULD', 'DECIDED', 'SHADOWED'],
          ...rules.map(({ rulesetId, drRuleId, matched, decided, shadowed }) => [
            `${rulesetId} ${drRuleId}`,
            ...[matched.was, matched.would, decided, shadowed].map(whole),
          ]),
        ]),
      ];

/** A replay in lines that a person reads. @param samples how many of them are shown */
export const replayLines = (replay: ReplayShown, samples: number): readonly string[] => {
  const { status, reason, turns, minds, differences } = replay;
  const why = reason === undefined ? '' : ` (${reason})`;
  const left = replay.samples.length - samples;
  return [
    `${status}${why}: ${whole(turns.checked)} turns of ${whole(minds)} NPCs, ${whole(turns.equal)} equal, ${whole(turns.different)} different, ${whole(turns.skipped)} skipped`,
    ...differenceKinds.flatMap((kind) => {
      const count = differences[kind] ?? 0;
      return count === 0 ? [] : [`  ${kind.padEnd(13)} ${whole(count)}`];
    }),
    ...skippedLine(replay),
    ...(replay.trial ? ruleLines(replay) : []),
    ...replay.samples.slice(0, samples).flatMap((sample) => ['', ...sampleLines(sample)]),
    ...(left > 0 ? ['', `${whole(left)} more samples: --samples shows them.`] : []),
  ];
};
