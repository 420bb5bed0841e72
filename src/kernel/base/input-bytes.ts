import { type Json, jsonBytes, sizeAtMost } from './json.js';
import { PAUSE_BYTES } from './page-size.js';
import { Rejection } from './rejection.js';

/** How much a request may contain to be recorded, in bytes of JSON; recorded-bytes.ts has the sums. */
export const INPUT_BYTES = 524_288;
/**
 * How many values a request may contain to be recorded: each is parsed, compared, hashed and written, which together takes a few microseconds without
 * yielding.
 */
export const INPUT_VALUES = 10_000;

/** @returns how many bytes of JSON it has. @throws Rejection EVENTS_TOO_LARGE beyond INPUT_BYTES */
export const requireInputBytes = (brought: Json): number => {
  const bytes = jsonBytes(brought);
  if (bytes <= INPUT_BYTES) return bytes;
  throw new Rejection('EVENTS_TOO_LARGE', {
    message: `This request has ${bytes} bytes of JSON to record. The limit is ${INPUT_BYTES}. Send less data at a time.`,
    details: { bytes, limitBytes: INPUT_BYTES },
  });
};

/**
 * Checks a request's data against INPUT_BYTES and INPUT_VALUES before anything is decided. Callers use `takeRecordable`, which yields to other work.
 * @param brought all the data that would be recorded
 * @returns how many bytes of JSON it has, or an upper bound of this if that is within PAUSE_BYTES
 * @throws Rejection EVENTS_TOO_LARGE
 */
export const requireRecordable = (brought: Json): number => {
  const { values, bytesAtMost } = sizeAtMost(brought, INPUT_VALUES);
  const isFew = values <= INPUT_VALUES;
  const bytes = isFew && bytesAtMost <= PAUSE_BYTES ? bytesAtMost : requireInputBytes(brought);
  if (isFew) return bytes;
  throw new Rejection('EVENTS_TOO_LARGE', {
    message: `This request has more than ${INPUT_VALUES} values to record (members, items, strings and numbers). Send less data at a time.`,
    details: { limitValues: INPUT_VALUES },
  });
};
