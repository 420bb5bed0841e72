import { Rejection } from '../../kernel/base/rejection.js';
import type { CortexEngine } from '../../ports/cortex.js';

/** The names by which clients request the tenant's default engine. */
const DEFAULT_NAMES: ReadonlySet<string> = new Set(['', 'api-integrated']);
export const isDefaultName = (name: string): boolean => DEFAULT_NAMES.has(name);

/** The engines of one server, and each tenant's choice. */
export type Engines = {
  /** Every engine that this server has; the scripted one is always among them. */
  readonly all: readonly CortexEngine[];
  /** The engine with that name, or with a model of that name; null if this server has none. */
  find(name: string): CortexEngine | null;
  /** The name of the tenant's default engine, even if this server does not have it. */
  defaultOf(tenant: string): string;
  /**
   * The engine of a tenant's minds.
   * @throws Rejection CORTEX_UNAVAILABLE if the tenant chose one that this server does not have: no other engine silently replaces it
   */
  engineOf(tenant: string): CortexEngine;
};

/**
 * @param standard the default of tenants that have chosen none; one of `all`
 * @param chosenBy the engine that a tenant chose, null if it has chosen none
 */
export const createEngines = (
  all: readonly CortexEngine[],
  standard: CortexEngine,
  chosenBy: (tenant: string) => string | null,
): Engines => {
  const byId = (id: string): CortexEngine | null => all.find((engine) => engine.id === id) ?? null;
  const defaultOf = (tenant: string): string => chosenBy(tenant) ?? standard.id;
  return {
    all,
    find: (name) => byId(name) ?? all.find((engine) => engine.name === name) ?? null,
    defaultOf,
    engineOf: (tenant) => {
      const id = defaultOf(tenant);
      const engine = byId(id);
      if (engine !== null) return engine;
      throw new Rejection('CORTEX_UNAVAILABLE', { details: { cortexId: id, reason: notHere(id) }, retryAfter: 1 });
    },
  };
};

/** Why an engine that a tenant chose cannot be used here. */
export const notHere = (cortexId: string): string =>
  `The tenant's default engine is "${cortexId}", which this server does not have. Configure it on this server, or choose another default engine.`;
