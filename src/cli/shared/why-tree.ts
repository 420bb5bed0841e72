import type { JsonMembers, JsonValue } from '../../body/protocol.js';
import { leftOutText } from './left-out-text.js';
import { counted, plain, short } from './text.js';
import type { Branch } from './tree.js';

/** Texts are cut to this many characters; `--json` shows them in full. */
const SHOWN = 300;
const PROMPT_LINES = 100;

const members = (value: JsonValue | undefined): JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMembers) : {};
const list = (value: JsonValue | undefined): readonly JsonMembers[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).map((each) => members(each)) : [];
const word = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : plain(value);
const quoted = (value: JsonValue | undefined): string => `"${short(word(value), SHOWN)}"`;
const named = (title: string, below: readonly Branch[]): readonly Branch[] =>
  below.length === 0 ? [] : [{ text: title, below }];

/** Why a turn came out as it did, as a tree. @param why the response of `GET .../why` */
export const whyTree = (why: JsonMembers): Branch => ({
  text: `${word(why['turnId'])} of ${word(why['npcId'])}, ${word(why['state'])}`,
  below: [
    { text: `perceived ${quoted(why['observation'])}` },
    ...playerOf(members(why['player'])),
    mindOf(members(why['mind']), members(why['verdict'])['valid'] !== undefined),
    ...otherRules(why),
    ...rulesOf(why),
    { text: recalled(list(why['memories']), members(why['recall'])), below: list(why['memories']).map(memoryOf) },
    ...promptOf(members(why['prompt'])),
    ...modelOf(members(why['model'])),
    ...named('checks', list(why['checks']).map(checkOf)),
    ...replacedBy(why['replacedBy']),
    ...named('no text from the engine', list(why['missingAnswers']).map(missingOf)),
    ...verdictOf(members(why['verdict']), members(why['failure'])),
    ...named('state changes that are not allowed', list(why['stateBreaks']).map(breakOf)),
    ...named('ignored: a tape contradicted the record', list(why['mismatches']).map(mismatchOf)),
    ...named('state changes', changesOf(members(why['stateChange']))),
    ...named(
      'memories stored',
      list(why['memoriesStored']).map(({ memoryId, type, text }) => ({
        text: `${word(memoryId)} ${word(type)} ${quoted(text)}`.trimStart(),
      })),
    ),
    ...recordOf(list(why['events'])),
  ],
});

/** Who spoke, and who named the player: the body, or a token. */
const playerOf = ({ id, name, from }: JsonMembers): readonly Branch[] => {
  if (id === undefined) return [];
  const called = name === undefined ? '' : ` ${quoted(name)}`;
  return [{ text: `player ${word(id)}${called}${from === undefined ? '' : ` (${word(from)})`}` }];
};

const mindOf = ({ revision, persona, data }: JsonMembers, isDecided: boolean): Branch => {
  if (Number(revision) < 0)
    return { text: isDecided ? 'no state: the NPC had no events before this turn' : 'no state yet' };
  const about = [
    persona === null ? '' : quoted(persona),
    Object.keys(members(data)).length === 0 ? '' : short(plain(data ?? null), SHOWN),
  ].filter((text) => text !== '');
  const title = `state at revision ${word(revision)}`;
  return about.length === 0
    ? { text: `${title}: no persona, no data` }
    : { text: title, below: about.map((text) => ({ text })) };
};

const rulesOf = ({ ruleset, rules, rulesetMissing, decidedBy, verdict }: JsonMembers): readonly Branch[] => {
  const { rulesetId, version } = members(ruleset);
  const title = rulesetId === undefined ? 'rules' : `rules of ${word(rulesetId)} version ${word(version)}`;
  const all = list(rules).map((rule) => ruleOf(rule, rule['drRuleId'] === decidedBy));
  // A turn without a ruleset must not look like one whose rules did not match.
  const isWithout = all.length === 0 && rulesetId === undefined && rulesetMissing === undefined;
  return isWithout && members(verdict)['valid'] !== undefined
    ? [{ text: 'decided without rules: the turn named no rulesetId, and there was no ruleset named default' }]
    : named(title, all);
};

/** Why other rules decided than those that were named. */
const otherRules = ({ rulesetMissing, ruleset }: JsonMembers): readonly Branch[] => {
  const { rulesetId, asked } = members(ruleset);
  if (rulesetMissing !== undefined) {
    const instead = rulesetId === undefined ? 'decided without rules' : `decided by ${quoted(rulesetId)}`;
    return [{ text: `${instead}: there was no ruleset ${quoted(rulesetMissing)}` }];
  }
  return asked === undefined
    ? []
    : [{ text: `ignored the requested ruleset ${quoted(asked)}: the NPC is bound to ${quoted(rulesetId)}` }];
};

const mismatchOf = ({ revision, members: differing }: JsonMembers): Branch => ({
  text: `revision ${word(revision)}: different ${list(differing)
    .map(({ member }) => word(member))
    .join(', ')}`,
});

const ruleOf = (rule: JsonMembers, hasDecided: boolean): Branch => {
  const conditions = list(rule['conditions']).map(({ key, expected, holds, error, saw, notRecorded }): Branch => {
    const outcome =
      holds === true ? 'holds' : error === undefined ? 'does not hold' : `cannot be decided, ${word(error)}`;
    return { text: `${word(key)} ${word(expected)}: ${outcome} (found ${sawText(saw, notRecorded === true)})` };
  });
  const pattern = rule['patternHolds'];
  const words =
    typeof pattern === 'boolean' ? [{ text: pattern ? 'the pattern matched' : 'the pattern did not match' }] : [];
  const name = word(rule['ruleName']);
  const action = word(rule['ruleAction']);
  const matched = rule['matched'] === true;
  // A rule that replaced the model's action does not always match its own.
  const outcomes = matched || !hasDecided ? [matched ? 'matched' : 'did not match'] : [];
  return {
    text: [
      `${word(rule['drRuleId'])}${name === '' ? '' : ` (${name})`} ${[...outcomes, ...(hasDecided ? ['decided'] : [])].join(' and ')}`,
      ...((matched || hasDecided) && action !== '' ? [short(action, SHOWN)] : []),
    ].join(': '),
    below: [...conditions, ...words],
  };
};

const sawText = (saw: JsonValue | undefined, notRecorded: boolean): string =>
  saw === undefined || saw === null
    ? notRecorded
      ? 'a value too large to record'
      : 'nothing'
    : `${plain(saw)}${notRecorded ? ', truncated' : ''}`;

const recalled = (memories: readonly JsonMembers[], { embedder, pending, byWords }: JsonMembers): string =>
  [
    memories.length === 0 ? 'recalled nothing' : `recalled ${counted(memories.length, 'memory', 'memories')}`,
    ...(embedder === undefined ? [] : [`by ${word(embedder)}`]),
    ...(pending === undefined || pending === 0 ? [] : [`${word(pending)} without a vector yet`]),
    ...(byWords === undefined ? [] : [byWords === 'query' ? 'the input by its words' : 'some memories by their words']),
  ].join(', ');

const memoryOf = ({ memoryId, text, similarity, cause }: JsonMembers): Branch => {
  const { turnId, revision } = members(cause);
  const from =
    revision === undefined
      ? []
      : [{ text: `stored at revision ${word(revision)}${word(turnId) === '' ? '' : ` in turn ${word(turnId)}`}` }];
  return {
    text: `${word(memoryId)} ${quoted(text)}, similarity ${Number(similarity).toFixed(2)}`.trimStart(),
    below: from,
  };
};

/** How long a prompt is, and whether anything was left out of it. */
const lengthOf = ({ tokens, budget, isShortened }: JsonMembers): string => {
  if (typeof tokens !== 'number') return '';
  const most = typeof budget === 'number' ? ` of ${String(budget)}` : '';
  return `, about ${String(tokens)}${most} tokens${isShortened === true ? ' (SHORTENED to them)' : ''}`;
};

const promptOf = ({ text, digest, madeAgain, parts, leftOut, ...length }: JsonMembers): readonly Branch[] =>
  text === undefined
    ? []
    : [
        {
          below: [
            ...leftOutOf(list(leftOut)),
            ...(parts === undefined ? linesOf(word(text)) : list(parts).map(partOf)).slice(0, PROMPT_LINES),
          ],
          text: `prompt of ${String(word(text).length)} characters${lengthOf(length)}, digest ${word(digest).slice(0, 12)}…, ${madeAgain === true ? 'rebuilt from the record: identical' : 'REBUILT FROM THE RECORD: DIFFERENT'}`,
        },
      ];

const leftOutOf = (leftOut: readonly JsonMembers[]): readonly Branch[] =>
  leftOut.length === 0 ? [] : [{ text: `LEFT OUT: ${leftOutText(leftOut)}` }];

const linesOf = (text: string): readonly Branch[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ text: short(line, SHOWN) }));

const partOf = ({ text, from, ref }: JsonMembers): Branch => ({
  text: `${[word(from), word(ref)].filter((each) => each !== '').join(' ')}: ${short(word(text), SHOWN)}`,
});

const modelOf = ({ text, cortexId, reasoning }: JsonMembers): readonly Branch[] => {
  if (text === undefined) return [];
  const writer = cortexId === undefined ? 'the model' : word(cortexId);
  return [
    ...(reasoning === undefined ? [] : [{ text: `${writer} thought ${quoted(reasoning)}` }]),
    { text: `${writer} wrote ${quoted(text)}` },
  ];
};

const checkOf = ({ brRuleId, passed, code, details }: JsonMembers): Branch => ({
  text:
    passed === true
      ? `${word(brRuleId)} passed`
      : `${word(brRuleId)} REFUSED: ${word(code)}${details === undefined ? '' : ` (${word(details)})`}`,
});

const missingOf = ({ attempt, cortexId, reason }: JsonMembers): Branch => ({
  text: `attempt ${word(attempt)} of ${word(cortexId)}: ${short(word(reason), SHOWN)}`,
});

const verdictOf = (verdict: JsonMembers, failure: JsonMembers): readonly Branch[] => {
  const { valid, dialogue, action, code, reason } = verdict;
  if (valid === undefined) {
    const failed = `no verdict, ${word(failure['code'])}: ${short(word(failure['reason']), SHOWN)}`;
    return [{ text: failure['code'] === undefined ? 'no verdict' : failed }];
  }
  const { type, target } = members(action);
  const did = `${word(type)}${word(target) === '' ? '' : ` -> ${word(target)}`}`;
  return [
    {
      text:
        valid === true
          ? `verdict: ${did} ${quoted(dialogue)}`
          : `verdict: REFUSED, ${word(code)}: ${word(reason ?? dialogue)}`,
    },
  ];
};

const replacedBy = (rule: JsonValue | undefined): readonly Branch[] =>
  rule === undefined ? [] : [{ text: `replaced the action of the model: rule ${word(rule)} requires another one` }];

const breakOf = ({ path, onBreak, reason, instead }: JsonMembers): Branch => {
  const effect = instead === undefined ? (onBreak === 'refuse' ? 'refused' : 'left out') : `became ${word(instead)}`;
  return { text: `${word(path)} ${effect}: ${word(reason)}` };
};

const changesOf = (change: JsonMembers): readonly Branch[] =>
  Object.entries(change).map(([key, value]) => ({ text: `${key}: ${short(plain(value), SHOWN)}` }));

const recordOf = (events: readonly JsonMembers[]): readonly Branch[] =>
  named(
    'recorded',
    events.map(({ revision, type, hash }) => ({
      text: `revision ${word(revision)} ${word(type)}, hash ${word(hash).slice(0, 16)}…`,
    })),
  );
