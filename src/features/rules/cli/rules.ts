import { Argument, Command } from 'commander';

import { openClient, problemLine } from '../../../cli/shared/client.js';
import { namingRulesets } from '../../../cli/shared/known-rulesets.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { examples, jsonOption, limitOption, npcIdArgument } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { drained } from '../../../kernel/base/sliced.js';
import { counted } from '../../../cli/shared/text.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { checkRuleset, readRuleset, type RulesetCheck } from '../check-ruleset.js';
import type { RuleFinding } from '../domain/analysis/findings.js';
import { problemText } from '../domain/conditions/problem.js';
import { type RuleWarning, warningLine } from '../domain/rule-warning.js';
import { grammarOf } from '../domain/ruleset.js';
import { writtenRuleset } from '../domain/written-ruleset.js';
import { readRulesetFile } from '../../../cli/shared/ruleset-file.js';
import { rulesetDiff } from './ruleset-diff.js';

type Json = { readonly json?: boolean };
type StoredSet = JsonObject & {
  readonly rulesetId: string;
  readonly version: number;
  readonly rulesetRules: readonly JsonObject[];
  readonly warnings?: readonly RuleWarning[];
};

const rulesetArgument = (): Argument => new Argument('<rulesetId>', 'ID of the ruleset');
const fileArgument = (): Argument => new Argument('<file>', 'ruleset in JSON, as POST /rules accepts it');

const pathOf = (rulesetId: string, version?: number): string =>
  `/rules/${encodeURIComponent(rulesetId)}${version === undefined ? '' : `?version=${String(version)}`}`;

/** Whether a set has an id of its own. */
const isNamed = ({ rulesetId, id }: JsonObject): boolean => [rulesetId, id].some((name) => (name ?? '') !== '');

const putCommand = (terminal: Terminal): Command =>
  new Command('put')
    .description('register a ruleset as a new version, or list the problems of an invalid one')
    .addArgument(fileArgument())
    .addOption(jsonOption())
    .addHelpText('after', examples('rules put tavern.json'))
    .action(async (file: string, { json = false }: Json) => {
      const set = await readRulesetFile(terminal, file);
      const request = await openClient(terminal);
      const stored = (await request('POST', '/rules', set)) as StoredSet;
      if (json) {
        printJson(terminal, stored);
        return;
      }
      for (const warning of stored.warnings ?? []) remark(terminal, `warning: ${warningLine(warning)}`);
      print(terminal, `Registered ${stored.rulesetId} as version ${String(stored.version)}.`);
      if (!isNamed(set))
        remark(
          terminal,
          `The set names no rulesetId, so the server made one. To make the next version of it, add "rulesetId": "${stored.rulesetId}" to ${file}.`,
        );
    });

type CheckOptions = Json & { readonly strict?: boolean };

const FINDING_WORDS: Readonly<Record<RuleFinding['kind'], string>> = {
  never_matches: 'never matches',
  needs_list: 'needs a list',
  shadowed: 'shadowed',
  contradicts: 'contradicts',
};

const findingLine = ({ kind, drRuleIds: [drRuleId = ''], message, meant }: RuleFinding): string =>
  `${FINDING_WORDS[kind]}: ${drRuleId}: ${problemText({ message, meant })}`;

const linesOfCheck = (file: string, check: RulesetCheck): readonly string[] => {
  const { warnings, findings, findingsLeftOut = 0, judged, notJudged } = check;
  const rules = counted(judged + notJudged.length, 'rule', 'rules');
  const found = counted(findings.length + findingsLeftOut, 'finding', 'findings');
  return [
    ...findings.map(findingLine),
    ...warnings.map((warning) => `warning: ${warningLine(warning)}`),
    ...notJudged.map(({ drRuleId, reason }) => `not judged: ${drRuleId}: ${reason}`),
    `${file} can be registered. ${String(judged)} of ${rules} judged: ${found}, ${counted(warnings.length, 'warning', 'warnings')}.`,
  ];
};

/** `anima rules check`: what `put` would refuse or warn of, and what rules can never do, without a server. */
const checkCommand = (terminal: Terminal): Command =>
  new Command('check')
    .description(
      'list what is wrong with a ruleset without registering it: problems, warnings, and rules that never match or never decide (needs no server)',
    )
    .addArgument(fileArgument())
    .option('--strict', 'exit with 1 if there are warnings, too')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      [
        '',
        'Exit codes:',
        '  0  the ruleset can be registered, and nothing was found',
        '  1  it cannot be registered, or rules cannot do what they say',
        '  2  wrong usage',
        examples('rules check tavern.json', 'rules check tavern.json --strict'),
      ].join('\n'),
    )
    .action(async (file: string, { json = false, strict = false }: CheckOptions) => {
      const body = await readRulesetFile(terminal, file);
      const check = drained(checkRuleset(body));
      const { code, problems, problemsLeftOut = 0, warnings, findings } = check;
      if (json) printJson(terminal, check);
      if (code !== undefined) {
        const more = problemsLeftOut === 0 ? [] : [`  and ${String(problemsLeftOut)} more`];
        const lines = [
          `${file} cannot be registered (${code}).`,
          ...problems.map((one) => `  ${problemLine(one)}`),
          ...more,
        ];
        throw new CommandFailed(lines.join('\n'));
      }
      if (!json) for (const line of linesOfCheck(file, check)) print(terminal, line);
      if (findings.length > 0) throw new CommandFailed(`${file} has rules that cannot do what they say.`);
      if (strict && warnings.length > 0) throw new CommandFailed(`${file} has warnings.`);
    });

const setLine = cellsOf([32, 8, 6]);
const DEFAULT_LIMIT = 100;

const listCommand = (terminal: Terminal): Command =>
  new Command('list')
    .description("list the tenant's rulesets in their newest versions")
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('ruleset'))
    .action(({ limit, json = false }: { readonly limit: number; readonly json?: boolean }) =>
      printListing<StoredSet>(terminal, {
        path: '/rules',
        query: {},
        limit,
        json,
        header: setLine(['RULESET', 'VERSION', 'RULES']).trimEnd(),
        lineOf: ({ rulesetId, version, rulesetRules }) =>
          setLine([rulesetId, String(version), String(rulesetRules.length)]).trimEnd(),
        none: 'No rulesets.',
      }),
    );

type Version = {
  version: number;
  registeredAt: string;
  grammar: number;
  rules: number;
  digest: string;
  deletedAt?: string;
};
const versionLine = cellsOf([8, 24, 8, 6, 43]);

const versionsCommand = (terminal: Terminal): Command =>
  new Command('versions')
    .description('list the versions of a ruleset, newest first, even of a deleted one')
    .addArgument(rulesetArgument())
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption('version'))
    .addHelpText('after', examples('rules versions tavern'))
    .action((rulesetId: string, { limit, json = false }: { readonly limit: number; readonly json?: boolean }) =>
      printListing<Version>(terminal, {
        path: `${pathOf(rulesetId)}/versions`,
        query: {},
        limit,
        json,
        header: versionLine(['VERSION', 'REGISTERED', 'GRAMMAR', 'RULES', 'DIGEST']).trimEnd(),
        lineOf: ({ version, registeredAt, grammar, rules, digest, deletedAt }) => {
          const line = versionLine([String(version), registeredAt, String(grammar), String(rules), digest]);
          return deletedAt === undefined ? line : `${line}  deleted ${deletedAt}`;
        },
        none: 'No versions.',
      }),
    );

const versionOption = (name: string, about: string, from = 1): readonly [string, string, (text: string) => number] => [
  `--${name} <version>`,
  about,
  wholeFrom(from),
];

const showCommand = (terminal: Terminal): Command =>
  new Command('show')
    .description('print a ruleset in the form that can be registered again')
    .addArgument(rulesetArgument())
    .option(...versionOption('ruleset-version', 'an older version, instead of the newest; 0 is the built-in preset', 0))
    .addHelpText('after', examples('rules show tavern > tavern.json', 'rules show rpg --ruleset-version 0 > rpg.json'))
    .action(async (rulesetId: string, { rulesetVersion }: { readonly rulesetVersion?: number }) => {
      const request = namingRulesets(await openClient(terminal));
      const { warnings: _, ...set } = (await request('GET', pathOf(rulesetId, rulesetVersion))) as StoredSet;
      for (const line of JSON.stringify(set, null, 2).split('\n')) print(terminal, line);
    });

type DiffOptions = { readonly from?: number; readonly to?: number; readonly json?: boolean };

/** The set of a file with everything that its registration fills in. @throws CommandFailed when it cannot be registered */
const completeFrom = (file: string, body: JsonObject, rulesetId: string): JsonObject => {
  const set = drained(readRuleset(body, () => rulesetId));
  if (!(set instanceof Rejection)) return { ...set, grammar: grammarOf(set) };
  throw new CommandFailed(
    `${file} cannot be registered (${set.code}), so it cannot be compared. Try "anima rules check ${file}".`,
  );
};

const diffCommand = (terminal: Terminal): Command =>
  new Command('diff')
    .description('print what changed between two versions of a ruleset, or between the newest one and a file')
    .addArgument(rulesetArgument())
    .addArgument(new Argument('[file]', 'ruleset in JSON to compare with'))
    .option(
      ...versionOption('from', 'the older version (default: the one before the newest, or the newest for a file)'),
    )
    .option(...versionOption('to', 'the newer version (default: the newest)'))
    .addOption(jsonOption())
    .addHelpText('after', examples('rules diff tavern', 'rules diff tavern tavern.json'))
    .action(async (rulesetId: string, file: string | undefined, { from, to, json = false }: DiffOptions) => {
      if (file !== undefined && to !== undefined) throw new WrongUsage('Use either a file or --to.');
      const set = file === undefined ? null : completeFrom(file, await readRulesetFile(terminal, file), rulesetId);
      const request = namingRulesets(await openClient(terminal));
      const versionOf = async (version?: number) => (await request('GET', pathOf(rulesetId, version))) as StoredSet;
      const newest = set === null ? await versionOf(to) : null;
      const after = newest ?? set ?? {};
      if (newest !== null && from === undefined && newest.version === 1)
        throw new CommandFailed(`${rulesetId} has only one version, so there is nothing to compare it with.`);
      const before = await versionOf(from ?? (newest === null ? undefined : newest.version - 1));
      const lines = rulesetDiff(writtenRuleset(before), writtenRuleset(after));
      if (json) {
        printJson(terminal, { differences: lines });
        return;
      }
      for (const line of lines) print(terminal, line);
      if (lines.length === 0) remark(terminal, 'No differences.');
    });

const deleteCommand = (terminal: Terminal): Command =>
  new Command('delete')
    .description('delete a ruleset (its versions can still be read)')
    .addArgument(rulesetArgument())
    .action(async (rulesetId: string) => {
      const request = namingRulesets(await openClient(terminal));
      await request('DELETE', pathOf(rulesetId));
      print(terminal, `Deleted ${rulesetId}.`);
    });

const bindCommand = (terminal: Terminal): Command =>
  new Command('bind')
    .description('bind an NPC to a ruleset, so that no request can choose another one')
    .addArgument(npcIdArgument())
    .addArgument(new Argument('[rulesetId]', 'ID of the ruleset'))
    .option('--none', 'unbind the NPC')
    .addHelpText('after', examples('rules bind mira tavern', 'rules bind mira --none'))
    .action(async (npcId: string, rulesetId: string | undefined, { none = false }: { readonly none?: boolean }) => {
      if ((rulesetId === undefined) !== none) throw new WrongUsage('Name either a ruleset or --none.');
      const request = namingRulesets(await openClient(terminal));
      const bound = (await request('POST', '/npcs', { npcId, rulesetId: rulesetId ?? '' })) as { created: boolean };
      // A misspelt NPC would be bound, too.
      const isNew = bound.created ? `${npcId} is new: it has no events yet. ` : '';
      const binding =
        rulesetId === undefined ? `${npcId} is not bound any more.` : `${npcId} is bound to ${rulesetId}.`;
      print(terminal, `${isNew}${rulesetId === undefined && bound.created ? `${npcId} is not bound.` : binding}`);
    });

/** `anima rules`: rulesets, from the command line. @param deciding the commands that decide cases, which this feature cannot */
export const rulesCommand = (terminal: Terminal, deciding: readonly Command[]): Command => {
  const rules = new Command('rules')
    .description('check, test, register, compare and delete rulesets, and bind NPCs to them')
    .addCommand(checkCommand(terminal));
  for (const command of deciding) rules.addCommand(command);
  return rules
    .addCommand(putCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(versionsCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(diffCommand(terminal))
    .addCommand(deleteCommand(terminal))
    .addCommand(bindCommand(terminal));
};
