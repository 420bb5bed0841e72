import type { CommandContext } from '../app/lane.js';
import type { Call } from './route.js';

/** On whose behalf a request's events are recorded. */
export const contextOf = (call: Call): CommandContext & { readonly resumed: boolean } => ({
  tenant: call.principal.tenant,
  actor: call.principal.keyId,
  commandId: call.commandId,
  correlationId: call.requestId,
  causationId: null,
  resumed: call.resumed,
});
