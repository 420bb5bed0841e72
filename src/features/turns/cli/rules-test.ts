import { Argument, Command } from 'commander';

import { readTyped, writeTyped } from '../../../cli/shared/files.js';
import { JudgedNo, judging } from '../../../cli/shared/judging.js';
import { examples, jsonOption, junitOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, type Terminal } from '../../../cli/shared/terminal.js';
import { counted } from '../../../cli/shared/text.js';
import { type JunitSuite, junitXml } from '../../../kernel/base/junit.js';
import { warningLine } from '../../rules/domain/rule-warning.js';
import type { RuleCaseResult } from '../domain/rule-tests/run-rule-case.js';
import { partLine, testFile, type TestedFile, whyFailed } from './test-file.js';

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

const showFile = (terminal: Terminal, { file, cases, problems, warnings }: TestedFile): void => {
  print(terminal, `${file}:`);
  for (const problem of problems) print(terminal, `invalid ${partLine(problem)}`);
  for (const warning of warnings) print(terminal, `warning ${warningLine(warning)}`);
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
