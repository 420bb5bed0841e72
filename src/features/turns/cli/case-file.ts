import { existsSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';

import { fileOf, isYamlName, readJsonOrYaml, readTyped, writeTyped } from '../../../cli/shared/files.js';
import { CommandFailed, type Terminal } from '../../../cli/shared/terminal.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { isSameJson } from '../../../kernel/base/same-json.js';
import { drained } from '../../../kernel/base/sliced.js';
import { A_RULESET, looksLikeRuleset } from '../../../cli/shared/file-kinds.js';
import { normaliseRuleset } from '../../rules/domain/normalise.js';
import { readRuleTests } from '../domain/rule-tests/read-rule-tests.js';
import { partLine } from './test-file.js';

/** The content of a file of tests with one case. */
export type NewTests = { readonly ruleset: string | JsonObject; readonly cases: readonly [JsonObject] };

/** The path of a file as a file of tests names it. @param out the file of tests; null if it has no name yet */
export const pathFrom = (terminal: Terminal, out: string | null, file: string): string =>
  out === null
    ? file
    : relative(dirname(fileOf(terminal, out)), fileOf(terminal, file))
        .split(sep)
        .join('/');

const isSameSet = (one: JsonObject, other: JsonObject): boolean => {
  const [left, right] = [one, other].map((set) => drained(normaliseRuleset(set, () => 'unnamed')));
  return !(left instanceof Rejection) && !(right instanceof Rejection) && isSameJson(left, right);
};

/** Why a case for one set cannot be in the file of another; null if it can. */
const whyOther = (
  terminal: Terminal,
  out: string,
  theirs: string | JsonObject,
  { ruleset }: NewTests,
): string | null => {
  if (typeof theirs === 'string') {
    const pathOf = (path: string): string => resolve(dirname(fileOf(terminal, out)), path);
    const isOther = typeof ruleset === 'string' && pathOf(ruleset) !== pathOf(theirs);
    return isOther ? `${out} tests ${theirs}. Leave out --ruleset, or write to another file.` : null;
  }
  if (typeof ruleset === 'string')
    return `${out} has its ruleset in full. Leave out --ruleset, or write to another file.`;
  return isSameSet(theirs, ruleset) ? null : `${out} tests other rules than those that decided. Write to another file.`;
};

/** The content of an existing file with one more case. @throws CommandFailed if the file has other rules or such a case, or is no file of tests */
const withCase = async (terminal: Terminal, out: string, added: NewTests): Promise<string> => {
  const content = (await readJsonOrYaml(terminal, out)) as Json;
  if (looksLikeRuleset(content)) throw new CommandFailed(`${out} cannot be added to. ${A_RULESET}`);
  const read = drained(readRuleTests(content));
  if ('problems' in read)
    throw new CommandFailed(
      [`${out} is no valid file of tests.`, ...read.problems.map((one) => `  ${partLine(one)}`)].join('\n'),
    );
  const why = whyOther(terminal, out, read.tests.ruleset, added);
  if (why !== null) throw new CommandFailed(why);
  const [one] = added.cases;
  if (read.tests.cases.some(({ name }) => name === one['name']))
    throw new CommandFailed(
      `${out} already has a case named ${JSON.stringify(one['name'])}. Use --name for another name.`,
    );
  if (isYamlName(out)) {
    const { yamlWithItem } = await import('../../../cli/shared/yaml-text.js');
    return yamlWithItem((await readTyped(terminal, out)).toString('utf8'), 'cases', one);
  }
  const { cases } = content as { readonly cases: readonly Json[] };
  return `${JSON.stringify({ ...(content as JsonObject), cases: [...cases, one] }, null, 2)}\n`;
};

/** A file of tests as text. */
export const testsText = async (tests: NewTests, isYaml: boolean): Promise<string> => {
  if (!isYaml) return `${JSON.stringify(tests, null, 2)}\n`;
  const { yamlOf } = await import('../../../cli/shared/yaml-text.js');
  return yamlOf(tests);
};

/** Adds a case to a file of tests, or begins one. @throws CommandFailed as `withCase`, or if the file cannot be written; then it is unchanged */
export const saveCase = async (terminal: Terminal, out: string, tests: NewTests): Promise<void> => {
  if (existsSync(fileOf(terminal, out))) await writeTyped(terminal, out, await withCase(terminal, out, tests));
  else await writeTyped(terminal, out, await testsText(tests, isYamlName(out)), 'wx');
};
