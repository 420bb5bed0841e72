import { parseDocument } from 'yaml';

import { readJsonBytes } from '../../kernel/base/read-json.js';
import { refuseInteger, refuseJson } from '../../kernel/base/refuse-json.js';

/** A value of YAML as JSON has it. */
const asJson = (_name: string, value: unknown): unknown => {
  if (typeof value === 'bigint') {
    if (!Number.isSafeInteger(Number(value))) throw refuseInteger(String(value));
    return Number(value);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw refuseJson('JSON has no such number.');
  return value;
};

/** Aliases that make a value contain itself, or far too large. */
const unfolded = (value: () => unknown): string => {
  let plain: unknown;
  try {
    plain = value();
  } catch (error) {
    throw refuseJson(error instanceof Error ? `${error.message}.` : 'Its aliases cannot be resolved.');
  }
  try {
    // An empty document has no value.
    return JSON.stringify(plain ?? null, asJson);
  } catch (error) {
    throw error instanceof TypeError ? refuseJson('An alias stands for something that contains it.') : error;
  }
};

/**
 * Reads YAML 1.2 that holds what JSON can hold: one document, without tags, with the limits of JSON.
 * @throws Rejection MALFORMED_JSON, with the reason in its details
 */
export const readYaml = (text: string): unknown => {
  const document = parseDocument(text, { intAsBigInt: true, prettyErrors: true });
  const [found] = [...document.errors, ...document.warnings];
  if (found?.code === 'MULTIPLE_DOCS') throw refuseJson('A file holds one document.');
  if (found !== undefined) throw refuseJson((found.message.split('\n')[0] ?? '').replace(/:$/, '.'));
  return readJsonBytes(Buffer.from(unfolded(() => document.toJS() as unknown))).value;
};
