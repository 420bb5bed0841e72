import { inSlices } from '../concurrency/in-slices.js';
import type { Json } from '../base/json.js';
import { readJsonSlices } from '../base/read-json.js';
import { refuseJson, whyRefused } from '../base/refuse-json.js';
import { Rejection } from '../base/rejection.js';

/**
 * Reads JSON that stands as a text in a body, as strictly as the body itself. Lines and columns of a refusal are those of the text.
 * @param member where the text stands, by a JSON Pointer
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
