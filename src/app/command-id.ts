import type { Clock } from '../ports/clock.js';
import type { AskedBy } from '../ports/process-engine.js';
import type { Random } from '../ports/random.js';
import { tenantOf } from '../domain/shared/stream-names.js';

/** A fresh command id: the time and 96 random bits, from characters that ids may hold (contract 1.6). */
export const makeCommandId = (clock: Clock, random: Random): string =>
  `c${clock.now().getTime().toString(36)}_${Buffer.from(random.bytes(12)).toString('base64url')}`;

/** On whose behalf a process acts while nobody asks: its stream's tenant, the actor `system`, a command of its own. */
export const askedBySystem = (
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  stream: string,
): AskedBy => {
  const commandId = makeCommandId(clock, random);
  return {
    tenant: tenantOf(stream) ?? 'local',
    actor: 'system',
    commandId,
    correlationId: commandId,
    causationId: null,
  };
};
