import type { Command } from '../app/streams/run-command.js';
import { npcStream } from '../domain/shared/stream-names.js';
import type { Call } from './route.js';

/** The key and command under which a request's events are recorded. */
export const contextOf = (call: Call): Required<Command> => ({
  tenant: call.principal.tenant,
  actor: call.principal.keyId,
  commandId: call.commandId,
  correlationId: call.requestId,
  causationId: null,
  keyed: call.keyed,
  resumed: call.resumed,
});

/** The stream of the mind that a request's path names. */
export const mindStream = ({ principal, params }: Call<{ npcId: string }>): string =>
  npcStream(principal.tenant, params.npcId);

/** As mindStream, in the agent family: an agent's id is an NPC's (contract 1.1). */
export const agentStream = ({ principal, params }: Call<{ agentId: string }>): string =>
  npcStream(principal.tenant, params.agentId);
