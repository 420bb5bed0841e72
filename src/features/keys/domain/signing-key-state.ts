import type { UnknownEvent } from '../../../kernel/base/decoder.js';
import type { SigningKeyEvent } from './signing-events.js';

/** A key as it was made. */
export type MadeSigningKey = Extract<SigningKeyEvent, { type: 'SigningKeyMade' }>['data'];

type Revocation = Omit<Extract<SigningKeyEvent, { type: 'SigningKeyRevoked' }>['data'], 'kid'>;

export type SigningKey = MadeSigningKey & { readonly madeAt: string; readonly revoked: Revocation | null };

/** Every key that was made, oldest first. */
export type SigningKeyState = readonly SigningKey[];

export const noSigningKeys: SigningKeyState = [];

/** The keys after one more event, which was recorded at this time. Total: an unknown event changes nothing. */
export const evolveSigningKeys = (
  state: SigningKeyState,
  event: SigningKeyEvent | UnknownEvent,
  at: string,
): SigningKeyState => {
  switch (event.type) {
    case 'SigningKeyMade':
      // A kid is made once: a copy of the event must not bring back a key that was revoked.
      return state.some(({ kid }) => kid === event.data.kid)
        ? state
        : [...state, { ...event.data, madeAt: at, revoked: null }];
    case 'SigningKeyRevoked': {
      const { kid, ...revoked } = event.data;
      return state.map((key) => (key.kid === kid ? { ...key, revoked } : key));
    }
    default:
      return state;
  }
};

/** The key that signs: the newest with this algorithm name that was not revoked, undefined if there is none. */
export const currentSigningKey = (state: SigningKeyState, alg: SigningKey['alg']): SigningKey | undefined =>
  state.findLast((key) => key.alg === alg && key.revoked === null);

/** Times in signatures are whole seconds. */
const secondOf = (instant: Date): number => Math.floor(instant.getTime() / 1_000);

/** Whether a key was revoked as of an instant or earlier. An invalid instant is not before the revocation. */
export const isRevokedAt = ({ revoked }: Pick<SigningKey, 'revoked'>, at: Date): boolean =>
  revoked !== null && !(secondOf(at) < secondOf(new Date(revoked.since)));
