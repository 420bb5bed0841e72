import { Rejection } from '../../../kernel/base/rejection.js';
import type { SigningKeyEvent } from './signing-events.js';
import { currentSigningKey, type MadeSigningKey, type SigningKey, type SigningKeyState } from './signing-key-state.js';

/** The result of a decider: events to append (none if nothing changes), or the refusal. */
type SigningKeyDecision = readonly SigningKeyEvent[] | Rejection;

/** How many keys there may be: a bundle lists them all, and its verifiers accept no more. */
export const MAX_SIGNING_KEYS = 1_000;

/** Adds a key, which signs from now on. Refuses with SIGNING_KEYS_FULL. */
export const addSigningKey = (state: SigningKeyState, made: MadeSigningKey): SigningKeyDecision =>
  state.length < MAX_SIGNING_KEYS
    ? [{ type: 'SigningKeyMade', data: made }]
    : new Rejection('SIGNING_KEYS_FULL', { details: { limit: MAX_SIGNING_KEYS } });

/** Which key is revoked, as of when (RFC 3339, in UTC and with milliseconds), and why. */
export type SigningKeyRevocation = Extract<SigningKeyEvent, { type: 'SigningKeyRevoked' }>['data'];

/**
 * Revokes a key. One that is revoked already can only be revoked as of an earlier time: what was void stays void. Refuses with SIGNING_KEY_NOT_FOUND,
 * and with SIGNING_KEY_CURRENT for the key that signs under this algorithm name.
 */
export const revokeSigningKey = (
  state: SigningKeyState,
  alg: SigningKey['alg'],
  revocation: SigningKeyRevocation,
): SigningKeyDecision => {
  const { kid, since } = revocation;
  const key = state.find((one) => one.kid === kid);
  if (key === undefined) return new Rejection('SIGNING_KEY_NOT_FOUND', { details: { kid } });
  if (currentSigningKey(state, alg)?.kid === kid) return new Rejection('SIGNING_KEY_CURRENT', { details: { kid } });
  const isVoidSooner = key.revoked !== null && Date.parse(key.revoked.since) <= Date.parse(since);
  return isVoidSooner ? [] : [{ type: 'SigningKeyRevoked', data: revocation }];
};
