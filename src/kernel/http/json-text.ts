import { inSlices } from '../concurrency/in-slices.js';
import type { Json } from '../base/json.js';
import { readJsonSlices } from '../base/read-json.js';
import { refuseJson, whyRefused } from '../base/refuse-json.js';
import { Rejection } from '../base/rejection.js';

/**
 * Reads JSON that is embedded as a text in a body, as strictly as the body itself. Lines and columns in a refusal refer to the text.
 * @param member the position of the text, as a JSON Pointer
 * @throws Rejection BODY_TOO_LARGE, MALFORMED_JSON
 */
export const readJsonText = async (member: string, text: string): Promise<Json> => {
  try {
    return (await inSlices(readJsonSlices(Buffer.from(text)))).value;
  } catch (error) {
    if (!(error instanceof Rejection) || error.code !== 'MALFORMED_JSON') throw error;
    throw refuseJson(`The text in ${member} is not valid JSON. ${whyRefused(error)}`);
  }
};
