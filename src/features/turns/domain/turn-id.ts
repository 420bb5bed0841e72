import { makeProcessId } from '../../../kernel/crypto/process-id.js';
import type { TurnKind } from '../../npcs/domain/events.js';

/** The first letter of a turn's id shows its kind. */
export const TURN_ID_PREFIX: Readonly<Record<TurnKind, string>> = {
  process: 't',
  directive: 'd',
  context: 'c',
  verdict: 'v',
};

/** The id of a turn made by a command, in a stream whose last durable revision is `revision`. */
export const makeTurnId = (kind: TurnKind, revision: number, timeMs: number, commandId: string): string =>
  makeProcessId(TURN_ID_PREFIX[kind], revision, timeMs, commandId);
