import type { MindRequest } from '../../body/mind-request.js';
import { isObject } from '../../kernel/base/json.js';
import { nearestName } from '../../kernel/base/nearest.js';
import { CommandFailed } from './terminal.js';

type Refusal = CommandFailed & { readonly code: string };

const UNKNOWN: readonly string[] = ['RULESET_NOT_FOUND', 'RULESET_UNKNOWN'];
const isUnknown = (error: unknown): error is Refusal =>
  error instanceof CommandFailed && error.code !== null && UNKNOWN.includes(error.code);

/** Null if the key may not read rules, or they cannot be read now: a hint is not worth another failure. */
const readOrNull = (request: MindRequest, path: string): Promise<unknown> => request('GET', path).catch(() => null);

const listOf = (answer: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(answer) ? answer.filter(isObject) : [];

/** How many registered ids are compared with an unknown one. */
const COMPARED = 500;

const nearestRuleset = async (request: MindRequest, rulesetId: string): Promise<string> => {
  const ids = listOf(await readOrNull(request, `/rules?limit=${String(COMPARED)}`)).map(({ rulesetId: id }) =>
    String(id),
  );
  const meant = nearestName(rulesetId, ids);
  return meant === undefined ? '' : ` Perhaps ${meant} was meant.`;
};

const unknownSentence = async (request: MindRequest, rulesetId: string, version: unknown): Promise<string> => {
  const versions = `/rules/${encodeURIComponent(rulesetId)}/versions?limit=1`;
  const [newest] = listOf(await readOrNull(request, versions));
  if (newest === undefined)
    return `No ruleset "${rulesetId}" is registered.${await nearestRuleset(request, rulesetId)}`;
  const number = String(newest['version']);
  return version === undefined
    ? `The ruleset "${rulesetId}" is deleted. Its newest version was ${number}.`
    : `${rulesetId} has no version ${JSON.stringify(version)}; its newest is ${number}.`;
};

/**
 * Makes requests that name rulesets. If one is not registered, the failure says which, and which one was probably meant; if only the version does not
 * exist, it names the newest one.
 */
export const namingRulesets =
  (request: MindRequest): MindRequest =>
  async (...call) => {
    try {
      return await request(...call);
    } catch (error) {
      const rulesetId = isUnknown(error) ? error.details['rulesetId'] : undefined;
      if (!isUnknown(error) || typeof rulesetId !== 'string') throw error;
      const { code, retryAfter, details } = error;
      const sentence = await unknownSentence(request, rulesetId, details['version']);
      throw new CommandFailed(`${sentence} (${code})`, code, retryAfter, details);
    }
  };
