import type { Clock } from '../../ports/clock.js';
import type { CommandContext } from '../base/command-context.js';
import type { Random } from '../../ports/random.js';
import { localTenant, tenantOf } from '../base/stream-names.js';

/** A new command id: the time and 96 random bits, in characters that are allowed in ids. */
export const makeCommandId = (clock: Clock, random: Random): string =>
  `c${clock.now().getTime().toString(36)}_${Buffer.from(random.bytes(12)).toString('base64url')}`;

/**
 * The same command id, with the number of events that its stream had when the id was reserved. The command has no event before that, so a second
 * attempt at the command need not search further back.
 */
export const reservedAt = (commandId: string, lastRevision: number): string =>
  `${commandId}r${(lastRevision + 1).toString(36)}`;

/**
 * The same for a command on many streams: with the global position of the last event when the id was reserved. In no stream has the command an event
 * up to there.
 */
export const reservedAfter = (commandId: string, position: number): string => `${commandId}p${position.toString(36)}`;

const COMMAND_ID = /^c([0-9a-z]{1,10})_[A-Za-z0-9_-]{16}(?:r([0-9a-z]{1,10})|p([0-9a-z]{1,11}))?$/;

/**
 * The parts of a command id: when it was made, in milliseconds since the epoch, and the stream's last revision and the log's last position at that
 * time; 0, -1 and 0 if it has none.
 */
export const parseCommandId = (
  commandId: string,
): { readonly timeMs: number; readonly lastRevision: number; readonly position: number } => {
  const [, time = '0', events = '0', position = '0'] = COMMAND_ID.exec(commandId) ?? [];
  return { timeMs: parseInt(time, 36), lastRevision: parseInt(events, 36) - 1, position: parseInt(position, 36) };
};

/** The origin of what a process does without a caller: its stream's tenant, the actor `system`, and a new command. */
export const systemContext = (
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  stream: string,
): CommandContext => {
  const commandId = makeCommandId(clock, random);
  return {
    tenant: tenantOf(stream) ?? localTenant,
    actor: 'system',
    commandId,
    correlationId: commandId,
    causationId: null,
  };
};
