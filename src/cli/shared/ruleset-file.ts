import { readJsonOrYaml } from './files.js';
import { CommandFailed, type Terminal } from './terminal.js';
import type { JsonObject } from '../../kernel/base/json.js';
import { whyNoRuleset } from './file-kinds.js';

/** Reads a ruleset. @throws CommandFailed when the file cannot be read, or holds something else */
export const readRulesetFile = async (terminal: Terminal, file: string): Promise<JsonObject> => {
  const content = (await readJsonOrYaml(terminal, file)) as JsonObject;
  const why = whyNoRuleset(file, content);
  if (why !== null) throw new CommandFailed(why);
  return content;
};
