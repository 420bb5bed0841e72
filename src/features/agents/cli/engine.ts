import { Command } from 'commander';

import { openClient } from '../../../cli/shared/client.js';
import { examples, jsonOption } from '../../../cli/shared/options.js';
import { CommandFailed, print, printJson, table, type Terminal } from '../../../cli/shared/terminal.js';
import type { EngineTestAnswer } from '../http/engine-test.js';

/** How long the server may take, in milliseconds: a little longer than its own limit. */
const TIMEOUT_MS = 75_000;

const RESULTS = { passed: 'passed', warning: 'WARNING', failed: 'FAILED', notJudged: 'not judged' } as const;

/** @throws CommandFailed if the server does not have the engine */
const test = async (terminal: Terminal, requested: string, json: boolean): Promise<void> => {
  const request = await openClient(terminal, TIMEOUT_MS);
  const found = (await request('POST', '/cortex/init', { requestedModel: requested })) as {
    readonly cortexId: string;
    readonly runtime: string;
    readonly state: string;
  };
  if (found.runtime === 'none') throw new CommandFailed(found.state);
  const path = `/cortex/${encodeURIComponent(found.cortexId)}/test`;
  const { cortexId, name, passed, checks } = (await request('POST', path)) as EngineTestAnswer;
  if (json) for (const check of checks) printJson(terminal, check);
  else {
    print(terminal, `${cortexId} (${name})`);
    const rows = checks.map(({ check, result, message }) => [`  ${check}`, RESULTS[result], message]);
    for (const line of table(rows)) print(terminal, line);
  }
  if (!passed) throw new CommandFailed('The engine did not pass the test.');
};

const testCommand = (terminal: Terminal): Command =>
  new Command('test')
    .description('call an engine a few times, and show whether it can speak for NPCs')
    .argument('[engine]', "name of the engine or of its model (default: the tenant's default engine)", '')
    .addOption(jsonOption('check'))
    .addHelpText('after', `\n${examples('engine test', 'engine test llama3.1:8b --json')}`)
    .action((requested: string, { json = false }: { readonly json?: boolean }) => test(terminal, requested, json));

/** `anima engine`: the language models of the server. */
export const engineCommand = (terminal: Terminal): Command =>
  new Command('engine').description('test the language models that speak for NPCs').addCommand(testCommand(terminal));
