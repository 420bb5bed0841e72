import { Command, Option } from 'commander';

import type { MindRequest } from '../../../body/mind-request.js';
import { openClient } from '../../../cli/shared/client.js';
import { isYamlName } from '../../../cli/shared/files.js';
import { namingRulesets } from '../../../cli/shared/known-rulesets.js';
import { leftOutText } from '../../../cli/shared/left-out-text.js';
import { examples, jsonOption, npcIdArgument } from '../../../cli/shared/options.js';
import { readRulesetFile } from '../../../cli/shared/ruleset-file.js';
import { counted, wrapped } from '../../../cli/shared/text.js';
import { CommandFailed, print, printJson, remark, type Terminal, WrongUsage } from '../../../cli/shared/terminal.js';
import { defined } from '../../../kernel/base/defined.js';
import { isObject, type JsonObject } from '../../../kernel/base/json.js';
import { readJson } from '../../../kernel/base/read-json.js';
import type { ShownPromptAnswer } from '../http/prompt.js';

type Options = {
  readonly player?: string;
  readonly context?: JsonObject;
  readonly ruleset?: string;
  readonly json?: boolean;
};

/** @throws WrongUsage for anything but an object in JSON */
const contextOf = (text: string): JsonObject => {
  const refused = new WrongUsage('--context must be an object in JSON, such as {"place": "the bar"}.');
  try {
    const value = readJson(text);
    if (isObject(value)) return value;
  } catch {
    throw refused;
  }
  throw refused;
};

/** A YAML file is refused with what to do instead, and is no ID. */
const isFile = (ruleset: string): boolean => isYamlName(ruleset) || /\.json$/i.test(ruleset);

/** @throws CommandFailed when a file cannot be read, or is no ruleset */
const rulesetOf = async (terminal: Terminal, ruleset: string | undefined): Promise<JsonObject> => {
  if (ruleset === undefined) return {};
  return isFile(ruleset) ? { ruleset: await readRulesetFile(terminal, ruleset) } : { rulesetId: ruleset };
};

const rulesIn = ({ ruleset }: ShownPromptAnswer, file: string | undefined): string => {
  if (ruleset === null) return `rules of ${file ?? 'nobody'}`;
  return `rules of ${ruleset.rulesetId} version ${String(ruleset.version)}`;
};

const sizeOf = ({ prompt, tokens, promptBudget, isShortened }: ShownPromptAnswer): string => {
  const most = promptBudget === null ? '' : ` of ${String(promptBudget)}`;
  return `${String(prompt.length)} characters, about ${String(tokens)}${most} tokens${isShortened ? ', shortened to them' : ''}`;
};

const linesOf = (npcId: string, shown: ShownPromptAnswer, file: string | undefined): readonly string[] => [
  `prompt for ${npcId}: ${sizeOf(shown)}, ${counted(shown.memories.length, 'memory', 'memories')}, ${rulesIn(shown, file)}`,
  ...(shown.leftOut.length === 0 ? [] : wrapped(`left out: ${leftOutText(shown.leftOut)}`, '    ', '')),
  ...shown.parts.flatMap(({ text, from, ref }) => [
    `${from}${ref === undefined ? '' : ` ${ref}`}:`,
    ...text.split('\n').flatMap((line) => wrapped(line, '    ')),
  ]),
];

/** Whether an NPC has no events, such as a misspelt one. False if the key may not read NPCs. */
const isUnknown = (request: MindRequest, npcId: string): Promise<boolean> =>
  request('GET', `/npcs/${encodeURIComponent(npcId)}`).then(
    () => false,
    (error: unknown) => error instanceof CommandFailed && error.code === 'NPC_NOT_FOUND',
  );

const showCommand = (terminal: Terminal): Command =>
  new Command('show')
    .description('show the prompt that an input would get now, by parts with their origin; no turn is played')
    .addArgument(npcIdArgument())
    .argument('<input>', 'what the NPC perceives, such as what a player says to it')
    .option('--player <id>', 'ID of the player who speaks')
    .addOption(new Option('--context <json>', 'the situation, as an object in JSON').argParser(contextOf))
    .option('--ruleset <file or id>', 'decide by this ruleset: a file (.json), or the ID of a registered one')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'prompt show mira "Does the miller owe you money?"',
        'prompt show mira "Good evening." --player ada --ruleset tavern.json',
      ),
    )
    .action(async (npcId: string, input: string, { player, context, ruleset, json = false }: Options) => {
      const instead = await rulesetOf(terminal, ruleset);
      const request = namingRulesets(await openClient(terminal));
      const named = player === undefined ? {} : { player: { id: player } };
      const body = { input, ...defined({ context }), ...named, ...instead };
      const path = `/v1/agents/${encodeURIComponent(npcId)}/prompt`;
      const shown = (await request('POST', path, body)) as ShownPromptAnswer;
      if (await isUnknown(request, npcId)) remark(terminal, `${npcId} has no events yet.`);
      if (json) printJson(terminal, shown);
      else for (const line of linesOf(npcId, shown, ruleset)) print(terminal, line);
    });

/** `anima prompt`: what engines are asked. */
export const promptCommand = (terminal: Terminal): Command =>
  new Command('prompt').description('show what engines are asked').addCommand(showCommand(terminal));
