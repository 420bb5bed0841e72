import { Rejection } from '../../kernel/base/rejection.js';
import { type Engines, isDefaultName } from '../engines/engines.js';

/** What the engine of contract 6.4 that has no model is for a ghost: the goal's policy. It speaks with people, and would never take a step. */
export const POLICY = 'scripted';

/**
 * The engine that is asked to play a ghost, by its id; undefined for the goal's policy (contract 9.8).
 * @param requested as in contract 6.2; undefined where nobody asked for one
 * @throws Rejection CORTEX_NOT_FOUND for a name that no engine has, CORTEX_UNAVAILABLE when the tenant's default is not configured here
 */
export const chooseGhostEngine = (
  engines: Pick<Engines, 'find' | 'engineOf'>,
  tenant: string,
  requested: string | undefined,
): string | undefined => {
  if (requested === undefined) return undefined;
  const engine = isDefaultName(requested) ? engines.engineOf(tenant) : engines.find(requested);
  if (engine === null)
    throw new Rejection('CORTEX_NOT_FOUND', {
      message: 'No engine here has this name or a model of this name; GET /cortex/models lists them all.',
      details: { engine: requested },
    });
  return engine.id === POLICY ? undefined : engine.id;
};
