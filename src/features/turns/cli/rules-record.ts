import { Argument, Command, Option } from 'commander';

import { openClient } from '../../../cli/shared/client.js';
import { readRulesetFile } from '../../../cli/shared/ruleset-file.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import { print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { writtenRuleset } from '../../rules/domain/written-ruleset.js';
import { caseOfTurn } from '../domain/rule-tests/case-of-turn.js';
import { type NewTests, pathFrom, saveCase, testsText } from './case-file.js';
import { readDecision } from './recorded-decision.js';
import { partLine, testContent, testFile, whyFailed } from './test-file.js';

type RecordOptions = {
  readonly out?: string;
  readonly ruleset?: string;
  readonly name?: string;
  readonly json?: boolean;
};

/** Says if other rules decide now, so that the case does not pass. */
const remarkIfOther = async (terminal: Terminal, out: string | undefined, tests: NewTests): Promise<void> => {
  const { cases, problems } = await (out === undefined
    ? testContent(terminal, 'standard output', tests)
    : testFile(terminal, out));
  for (const problem of problems) remark(terminal, `The rules cannot be tested: ${partLine(problem)}`);
  const result = cases.find(({ name }) => name === tests.cases[0]['name']);
  if (result?.passed === false) remark(terminal, `The case does not pass: ${whyFailed(result)}`);
};

/** `anima rules record`: makes a case of what happened. */
export const rulesRecordCommand = (terminal: Terminal): Command =>
  new Command('record')
    .description('make a test of a recorded turn: what it was decided on, what the model wrote, and the verdict')
    .addArgument(npcIdArgument())
    .addArgument(new Argument('<turnId>', 'ID of the turn'))
    .addOption(new Option('-o, --out <file>', 'add the case to this file, or begin it, instead of printing it'))
    .addOption(
      new Option('--ruleset <file>', 'name this file as the ruleset, instead of writing out the one that decided'),
    )
    .addOption(new Option('--name <name>', 'name of the case (default: "turn" and the ID)'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('rules record mira <turnId>', 'rules record mira <turnId> --ruleset shop.json -o shop.test.yaml'),
    )
    .action(async (npcId: string, turnId: string, options: RecordOptions) => {
      const { out, ruleset, name = `turn ${turnId}`, json = false } = options;
      if (json && out !== undefined)
        throw new WrongUsage('Use either --json or -o, whose form the name of the file says.');
      if (ruleset !== undefined) await readRulesetFile(terminal, ruleset);
      const found = await readDecision(await openClient(terminal), npcId, turnId);
      const tests: NewTests = {
        ruleset: ruleset === undefined ? writtenRuleset(found.ruleset) : pathFrom(terminal, out ?? null, ruleset),
        cases: [caseOfTurn(name, found.decision)],
      };
      if (out !== undefined) {
        await saveCase(terminal, out, tests);
        print(terminal, `Added the case ${JSON.stringify(name)} to ${out}.`);
      } else if (json) printJson(terminal, tests);
      else for (const line of (await testsText(tests, true)).replace(/\n$/, '').split('\n')) print(terminal, line);
      await remarkIfOther(terminal, out, tests);
    });
