import { Rejection } from '../../kernel/base/rejection.js';
import { type Engines, isDefaultName } from '../engines/engines.js';

/** For a ghost, the scripted engine means the goal's policy: the engine itself only talks and would never take a step. */
export const POLICY = 'scripted';

/**
 * The id of the engine that plays a ghost; undefined for the goal's policy.
 * @param requested the name of an engine or of its model; undefined if the request names none
 * @throws Rejection CORTEX_NOT_FOUND for a name that no engine has, CORTEX_UNAVAILABLE if the tenant's default is not configured here
 */
export const chooseGhostEngine = (
  engines: Pick<Engines, 'find' | 'engineOf'>,
  tenant: string,
  requested: string | undefined,
): string | undefined => {
  if (requested === undefined) return undefined;
  const engine = isDefaultName(requested) ? engines.engineOf(tenant) : engines.find(requested);
  if (engine === null) throw new Rejection('CORTEX_NOT_FOUND', { details: { engine: requested } });
  return engine.id === POLICY ? undefined : engine.id;
};
