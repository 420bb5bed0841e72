import { dirname, resolve } from 'node:path';

import { problemLine } from '../../../cli/shared/client.js';
import { fileOf, readJsonOrYaml } from '../../../cli/shared/files.js';
import { CommandFailed, type Terminal } from '../../../cli/shared/terminal.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { drained } from '../../../kernel/base/sliced.js';
import { A_RULESET, looksLikeRuleset, whyNoRuleset } from '../../../cli/shared/file-kinds.js';
import type { RuleWarning } from '../../rules/domain/rule-warning.js';
import { warningsAbout } from '../../rules/domain/warnings.js';
import { normaliseRuleset } from '../../rules/domain/normalise.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import { readRuleTests } from '../domain/rule-tests/read-rule-tests.js';
import type { RuleTests } from '../domain/rule-tests/rule-case.js';
import { type CaseDifference, type RuleCaseResult, runRuleCase } from '../domain/rule-tests/run-rule-case.js';

/** What is wrong, and where in the file or in its ruleset. */
export type InvalidPart = { readonly pointer: string; readonly message: string; readonly meant?: string };

/** An invalid part as a line. */
export const partLine = (part: InvalidPart): string => (part.pointer === '' ? part.message : problemLine(part));

/** A file that was tested, or why it could not be. */
export type TestedFile = {
  readonly file: string;
  readonly cases: readonly RuleCaseResult[];
  /** Why the file or its ruleset cannot be used; empty if it can. */
  readonly problems: readonly InvalidPart[];
  /** Of the ruleset, as its registration would give them. */
  readonly warnings: readonly RuleWarning[];
  /** In milliseconds. */
  readonly duration: number;
};

/** The file or its ruleset is invalid. */
class Unusable extends Error {
  readonly problems: readonly InvalidPart[];

  constructor(problems: readonly InvalidPart[]) {
    super('the file cannot be used');
    this.problems = problems;
  }
}

const unusable = (error: unknown): never => {
  throw error instanceof CommandFailed ? new Unusable([{ pointer: '', message: error.message }]) : error;
};

type ReadSet = { readonly ruleset: DirectiveRuleSet; readonly warnings: readonly RuleWarning[] };

/** The ruleset as its registration would store it. @param from the file of tests */
const rulesetOf = async (terminal: Terminal, from: string, { ruleset }: RuleTests): Promise<ReadSet> => {
  const isPath = typeof ruleset === 'string';
  const body = isPath ? await readJsonOrYaml(terminal, resolve(dirname(from), ruleset)).catch(unusable) : ruleset;
  const where = isPath ? `${ruleset}: ` : '';
  const why = isPath ? whyNoRuleset(ruleset, body as Json) : null;
  if (why !== null || !isObject(body)) throw new Unusable([{ pointer: '', message: why ?? A_RULESET }]);
  const content = drained(normaliseRuleset(body, () => 'unnamed', isPath ? '' : '/ruleset'));
  if (!(content instanceof Rejection)) {
    return { ruleset: { ...content, version: 1 }, warnings: drained(warningsAbout(body, content)) };
  }
  const { problems } = content.details;
  throw new Unusable([
    { pointer: '', message: `${where}${content.message}` },
    ...(Array.isArray(problems) ? (problems as readonly InvalidPart[]) : []),
  ]);
};

type Tested = Pick<TestedFile, 'cases' | 'problems' | 'warnings'>;

const contentIn = async (terminal: Terminal, file: string): Promise<Json> => {
  const content = (await readJsonOrYaml(terminal, file).catch(unusable)) as Json;
  if (looksLikeRuleset(content)) throw new Unusable([{ pointer: '', message: A_RULESET }]);
  return content;
};

const tested = async (work: () => Promise<Tested>): Promise<Tested> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unusable) return { cases: [], problems: error.problems, warnings: [] };
    throw error;
  }
};

/** Decides the cases of what a file holds or would hold. @param file where it is; the path of its ruleset is relative to it */
export const testContent = (terminal: Terminal, file: string, content: Json): Promise<Tested> =>
  tested(async () => {
    const read = drained(readRuleTests(content));
    if ('problems' in read) return { cases: [], problems: read.problems, warnings: [] };
    const { ruleset, warnings } = await rulesetOf(terminal, fileOf(terminal, file), read.tests);
    return { cases: read.tests.cases.map((one) => drained(runRuleCase(ruleset, one))), problems: [], warnings };
  });

/** Decides the cases of a file, or finds why they cannot be decided. */
export const testFile = (terminal: Terminal, file: string): Promise<Tested> =>
  tested(async () => testContent(terminal, file, await contentIn(terminal, file)));

const shown = (value: Json | undefined): string => (value === undefined ? 'none' : JSON.stringify(value));
const differenceText = ({ member, expected, actual }: CaseDifference): string =>
  `${member} expected ${shown(expected)}, was ${shown(actual)}`;
/** How a verdict is not as its case expects. */
export const whyFailed = ({ differences, notes }: RuleCaseResult): string =>
  `${differences.map(differenceText).join('; ')}${notes.length === 0 ? '' : ` (${notes.join(' ')})`}`;
