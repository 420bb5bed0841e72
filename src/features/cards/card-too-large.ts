import { Rejection } from '../../kernel/base/rejection.js';

/** The refusal of a card that is too large. @param holder the file that it is in @param maxBytes of its JSON */
export const cardTooLarge = (holder: 'CHARX' | 'picture', maxBytes: number): Rejection =>
  new Rejection('BODY_TOO_LARGE', {
    message: `The card in this ${holder} has more than ${String(maxBytes)} bytes of JSON.`,
    details: { limitBytes: maxBytes },
  });
