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

const orThrow = (bytes: number | Rejection): number => {
  if (bytes instanceof Rejection) throw bytes;
  return bytes;
};

const inputBytes = (brought: Json): number | Rejection => {
  const bytes = jsonBytes(brought);
  if (bytes <= INPUT_BYTES) return bytes;
  return new Rejection('EVENTS_TOO_LARGE', {
    message: `This request has ${bytes} bytes of JSON to record. The limit is ${INPUT_BYTES}. Send less data at a time.`,
    details: { bytes, limitBytes: INPUT_BYTES },
  });
};

/** @returns how many bytes of JSON it has. @throws Rejection EVENTS_TOO_LARGE beyond INPUT_BYTES */
export const requireInputBytes = (brought: Json): number => orThrow(inputBytes(brought));

/**
 * Checks data against INPUT_BYTES and INPUT_VALUES, for a decider: what a request brings is checked before, by `takeRecordable`.
 * @param brought all the data that would be recorded
 * @returns how many bytes of JSON it has, or an upper bound of this if that is within PAUSE_BYTES; or EVENTS_TOO_LARGE
 */
export const recordableBytes = (brought: Json): number | Rejection => {
  const { values, bytesAtMost } = sizeAtMost(brought, INPUT_VALUES);
  const isFew = values <= INPUT_VALUES;
  const bytes = isFew && bytesAtMost <= PAUSE_BYTES ? bytesAtMost : inputBytes(brought);
  if (isFew || bytes instanceof Rejection) return bytes;
  return new Rejection('EVENTS_TOO_LARGE', {
    message: `This request has more than ${INPUT_VALUES} values to record (members, items, strings and numbers). Send less data at a time.`,
    details: { limitValues: INPUT_VALUES },
  });
};

/** `recordableBytes` of what a request brings. Callers use `takeRecordable`, which yields to other work. @throws Rejection EVENTS_TOO_LARGE */
export const requireRecordable = (brought: Json): number => orThrow(recordableBytes(brought));
