import { chooseCortex } from '../keys/domain/decide.js';
import { changeTenant, type TenantDeps } from '../keys/api-keys.js';
import type { Command } from '../../kernel/streams/run-command.js';
import { type Engines, isDefaultName, notHere } from './engines.js';

/** An engine as shown to clients. `state`: `ready`, or the reason why not. */
export type InitialisedCortex = { readonly cortexId: string; readonly runtime: string; readonly state: string };

/** The runtime that is shown for an engine that this server does not have. */
export const NO_RUNTIME = 'none';

/** Finds the engine that a tenant requests, and reports its state. */
export const lookUpCortex = (engines: Engines, tenant: string, requested: string): InitialisedCortex => {
  const isDefault = isDefaultName(requested);
  const name = isDefault ? engines.defaultOf(tenant) : requested;
  const engine = engines.find(name);
  if (engine !== null) return { cortexId: engine.id, runtime: engine.runtime, state: engine.state() };
  const state = isDefault ? notHere(name) : 'No engine or model on this server has this name.';
  return { cortexId: name, runtime: NO_RUNTIME, state };
};

/**
 * The same, and makes the engine the tenant's default if it is ready. Other servers apply this within a second, like revocations of keys. Propagates
 * errors from the event store.
 */
export const chooseDefaultCortex = async (
  deps: TenantDeps,
  engines: Engines,
  command: Command,
  requested: string,
): Promise<InitialisedCortex> => {
  const found = lookUpCortex(engines, command.tenant, requested);
  if (found.state === 'ready') {
    await changeTenant(deps, command, (state) => chooseCortex(state, found.cortexId));
  }
  return found;
};
