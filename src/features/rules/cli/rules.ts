import { Argument, Command } from 'commander';

import { openClient, problemLine } from '../../../cli/shared/client.js';
import { readJsonOrYaml } from '../../../cli/shared/files.js';
import { cellsOf, printListing } from '../../../cli/shared/listing.js';
import { examples, jsonOption, limitOption, npcIdArgument } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { wholeFrom } from '../../../cli/shared/whole-from.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { drained } from '../../../kernel/base/sliced.js';
import { counted } from '../../../cli/shared/text.js';
import { whyNoRuleset } from '../domain/file-kinds.js';
import { normaliseRuleset } from '../domain/normalise.js';
import { memberWarnings, type RuleWarning, warningsOf } from '../domain/warnings.js';
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

const warningLine = ({ drRuleId, message }: RuleWarning): string =>
  drRuleId === '' ? message : `${drRuleId}: ${message}`;

/** Reads a ruleset. @throws CommandFailed when the file cannot be read, or holds something else */
const readRulesetFile = async (terminal: Terminal, file: string): Promise<JsonObject> => {
  const content = (await readJsonOrYaml(terminal, file)) as JsonObject;
  const why = whyNoRuleset(file, content);
  if (why !== null) throw new CommandFailed(why);
  return content;
};

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
    });

/** `anima rules check`: what `put` would refuse or warn of, without a server. */
const checkCommand = (terminal: Terminal): Command =>
  new Command('check')
    .description('list the problems and warnings of a ruleset without registering it (needs no server)')
    .addArgument(fileArgument())
    .addOption(jsonOption())
    .addHelpText('after', examples('rules check tavern.json'))
    .action(async (file: string, { json = false }: Json) => {
      const body = await readRulesetFile(terminal, file);
      const content = drained(normaliseRuleset(body, () => 'unnamed'));
      const isRefused = content instanceof Rejection;
      const warnings = isRefused ? [] : [...warningsOf(content), ...memberWarnings(body, content)];
      if (json) printJson(terminal, isRefused ? { code: content.code, ...content.details } : { warnings });
      else {
        for (const warning of warnings) print(terminal, `warning: ${warningLine(warning)}`);
        if (!isRefused)
          print(terminal, `${file} can be registered, with ${counted(warnings.length, 'warning', 'warnings')}.`);
      }
      if (isRefused)
        throw new CommandFailed([`${file} cannot be registered (${content.code}).`, ...problemsIn(content)].join('\n'));
    });

const problemsIn = ({ details, message }: Rejection): readonly string[] =>
  Array.isArray(details['problems']) ? details['problems'].map((found) => `  ${problemLine(found)}`) : [`  ${message}`];

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
      const request = await openClient(terminal);
      const { warnings: _, ...set } = (await request('GET', pathOf(rulesetId, rulesetVersion))) as StoredSet;
      for (const line of JSON.stringify(set, null, 2).split('\n')) print(terminal, line);
    });

type DiffOptions = { readonly from?: number; readonly to?: number; readonly json?: boolean };

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
      const set = file === undefined ? null : await readRulesetFile(terminal, file);
      const request = await openClient(terminal);
      const versionOf = async (version?: number) => (await request('GET', pathOf(rulesetId, version))) as StoredSet;
      const newest = set === null ? await versionOf(to) : null;
      const after = newest ?? set ?? {};
      if (newest !== null && from === undefined && newest.version === 1)
        throw new CommandFailed(`${rulesetId} has only one version, so there is nothing to compare it with.`);
      const before = await versionOf(from ?? (newest === null ? undefined : newest.version - 1));
      const lines = rulesetDiff(before, after);
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
      const request = await openClient(terminal);
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
      const request = await openClient(terminal);
      await request('POST', '/npcs', { npcId, rulesetId: rulesetId ?? '' });
      print(
        terminal,
        rulesetId === undefined ? `${npcId} is not bound any more.` : `${npcId} is bound to ${rulesetId}.`,
      );
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
