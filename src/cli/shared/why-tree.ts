import type { JsonMembers, JsonValue } from '../../body/protocol.js';
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
    mindOf(members(why['mind']), members(why['verdict'])['valid'] !== undefined),
    ...otherRules(why),
    ...rulesOf(why),
    { text: recalled(list(why['memories'])), below: list(why['memories']).map(memoryOf) },
    ...promptOf(members(why['prompt'])),
    ...modelOf(members(why['model'])),
    ...named('checks', list(why['checks']).map(checkOf)),
    ...replacedBy(why['replacedBy']),
    ...verdictOf(members(why['verdict'])),
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

const recalled = (memories: readonly JsonMembers[]): string =>
  memories.length === 0 ? 'recalled nothing' : `recalled ${counted(memories.length, 'memory', 'memories')}`;

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

const promptOf = ({ text, digest, madeAgain }: JsonMembers): readonly Branch[] =>
  text === undefined
    ? []
    : [
        {
          below: word(text)
            .split('\n')
            .filter((line) => line !== '')
            .slice(0, PROMPT_LINES)
            .map((line) => ({ text: short(line, SHOWN) })),
          text: `prompt of ${String(word(text).length)} characters, digest ${word(digest).slice(0, 12)}…, ${madeAgain === true ? 'rebuilt from the record: identical' : 'REBUILT FROM THE RECORD: DIFFERENT'}`,
        },
      ];

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

const verdictOf = (verdict: JsonMembers): readonly Branch[] => {
  const { valid, dialogue, action, code, reason } = verdict;
  if (valid === undefined) return [{ text: 'no verdict' }];
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
