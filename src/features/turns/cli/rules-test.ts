import { dirname, resolve } from 'node:path';

import { Argument, Command } from 'commander';

import { problemLine } from '../../../cli/shared/client.js';
import { fileOf, readJsonFile, readJsonOrYaml, readTyped, writeTyped } from '../../../cli/shared/files.js';
import { JudgedNo, judging } from '../../../cli/shared/judging.js';
import { examples, jsonOption, junitOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, type Terminal } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';
import { isObject, type Json } from '../../../kernel/base/json.js';
import { type JunitSuite, junitXml } from '../../../kernel/base/junit.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { drained } from '../../../kernel/base/sliced.js';
import { normaliseRuleset } from '../../rules/domain/normalise.js';
import type { DirectiveRuleSet } from '../../rules/domain/ruleset.js';
import { readRuleTests } from '../domain/rule-tests/read-rule-tests.js';
import type { RuleTests } from '../domain/rule-tests/rule-case.js';
import { type CaseDifference, type RuleCaseResult, runRuleCase } from '../domain/rule-tests/run-rule-case.js';

/** What is wrong, and where in the file or in its ruleset. */
type InvalidPart = { readonly pointer: string; readonly message: string; readonly meant?: string };

const partLine = (part: InvalidPart): string => (part.pointer === '' ? part.message : problemLine(part));

/** A file that was tested, or why it could not be. */
type TestedFile = {
  readonly file: string;
  readonly cases: readonly RuleCaseResult[];
  /** Why the file or its ruleset cannot be used; empty if it can. */
  readonly problems: readonly InvalidPart[];
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

/** The ruleset as its registration would store it. @param from the file of tests */
const rulesetOf = async (terminal: Terminal, from: string, { ruleset }: RuleTests): Promise<DirectiveRuleSet> => {
  const isPath = typeof ruleset === 'string';
  const body = isPath ? await readJsonFile(terminal, resolve(dirname(from), ruleset)).catch(unusable) : ruleset;
  const where = isPath ? `${ruleset}: ` : '';
  if (!isObject(body)) throw new Unusable([{ pointer: '', message: `${where}There is no JSON object in it.` }]);
  const content = drained(normaliseRuleset(body, () => 'unnamed', isPath ? '' : '/ruleset'));
  if (!(content instanceof Rejection)) return { ...content, version: 1 };
  const { problems } = content.details;
  throw new Unusable([
    { pointer: '', message: `${where}${content.message}` },
    ...(Array.isArray(problems) ? (problems as readonly InvalidPart[]) : []),
  ]);
};

const testFile = async (terminal: Terminal, file: string): Promise<Omit<TestedFile, 'file' | 'duration'>> => {
  try {
    const content = await readJsonOrYaml(terminal, file).catch(unusable);
    const read = readRuleTests(content as Json);
    if ('problems' in read) return { cases: [], problems: read.problems };
    const ruleset = await rulesetOf(terminal, fileOf(terminal, file), read.tests);
    return { cases: read.tests.cases.map((one) => drained(runRuleCase(ruleset, one))), problems: [] };
  } catch (error) {
    if (error instanceof Unusable) return { cases: [], problems: error.problems };
    throw error;
  }
};

const shown = (value: Json | undefined): string => (value === undefined ? 'none' : JSON.stringify(value));
const differenceText = ({ member, expected, actual }: CaseDifference): string =>
  `${member} expected ${shown(expected)}, was ${shown(actual)}`;
const whyFailed = ({ differences, notes }: RuleCaseResult): string =>
  `${differences.map(differenceText).join('; ')}${notes.length === 0 ? '' : ` (${notes.join(' ')})`}`;

const caseLine = (result: RuleCaseResult): string =>
  result.passed ? `passed  ${result.name}` : `FAILED  ${result.name}: ${whyFailed(result)}`;

const suiteOf = ({ file, cases, problems, duration }: TestedFile): JunitSuite => ({
  name: `rules ${file}`,
  cases: [
    ...(problems.length === 0
      ? []
      : [
          {
            name: 'file',
            outcome: { kind: 'error' as const, message: problems.map(partLine).join('\n') },
          },
        ]),
    ...cases.map((result) => ({
      name: result.name,
      outcome: result.passed ? null : { kind: 'failure' as const, message: whyFailed(result) },
    })),
  ],
  ms: duration,
});

const showFile = (terminal: Terminal, { file, cases, problems }: TestedFile): void => {
  print(terminal, `${file}:`);
  for (const problem of problems) print(terminal, `invalid ${partLine(problem)}`);
  for (const result of cases) print(terminal, caseLine(result));
};

const EXIT_CODES = `
Exit codes:
  0  all cases passed
  1  a case failed, or a file or its ruleset is invalid
  2  wrong usage
  3  the files have no cases, or one of them cannot be read`;

type TestOptions = { readonly json?: boolean; readonly junit?: string };

/** `anima rules test`: decides the cases of a designer without a server. */
export const rulesTestCommand = (terminal: Terminal): Command =>
  new Command('test')
    .description('decide the cases in files of tests and compare the verdicts with what they expect (needs no server)')
    .addArgument(new Argument('<file...>', 'tests in YAML or JSON'))
    .addOption(junitOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `${EXIT_CODES}\n${examples('rules test shop.test.yaml', 'rules test rules/*.test.yaml --junit rules.xml')}`,
    )
    .action(
      judging(async (files: readonly string[], { json = false, junit }: TestOptions) => {
        // A file that does not exist is no failed check.
        for (const file of files) await readTyped(terminal, file);
        const tested: TestedFile[] = [];
        for (const file of files) {
          const started = performance.now();
          const results = await testFile(terminal, file);
          tested.push({ file, ...results, duration: Math.round(performance.now() - started) });
        }
        const cases = tested.flatMap((one) => one.cases);
        const failed = cases.filter(({ passed }) => !passed).length;
        const invalid = tested.filter(({ problems }) => problems.length > 0).length;
        if (json) printJson(terminal, { passed: cases.length - failed, failed, invalid, files: tested });
        else {
          for (const one of tested) showFile(terminal, one);
          print(terminal, `${String(cases.length - failed)} passed, ${String(failed)} failed`);
        }
        if (junit !== undefined) await writeTyped(terminal, junit, junitXml(tested.map(suiteOf)));
        const reasons = [
          ...(failed === 0 ? [] : [`${counted(failed, 'case', 'cases')} failed.`]),
          ...(invalid === 0 ? [] : [`${counted(invalid, 'file is', 'files are')} invalid.`]),
        ];
        if (reasons.length > 0) throw new JudgedNo(reasons.join(' '));
        if (cases.length === 0) throw new CommandFailed('The files have no cases.');
      }),
    );
