import { Rejection } from '../../domain/shared/rejection.js';
import { cutBytes } from '../../domain/shared/text.js';
import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';
import { type Engines, isDefaultName } from '../cortex/engines.js';
import { type FairPlaces, sharePlaces } from '../pacing/fair-places.js';
import type { AskedOfModel } from './session-turn.js';

/** How many texts one engine makes for the ghosts of a process at once: agents want their answers, too (contract 9.8). */
export const ENGINE_TEXTS = 4;
/** The same for a model in the process, which makes one after the other: an agent then waits for one of a ghost at most. */
export const OWN_MODEL_TEXTS = 1;
/** How long a ghost waits for a place before it tries again later, in milliseconds. */
export const PLACE_WAIT_MS = 60_000;
/** How much of what an engine says counts, in bytes of UTF-8: a checkpoint, this step and the answer to it have to fit into an event. */
export const TEXT_BYTES = 8_192;

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

const notHere = (id: string): string => `This server does not have the engine "${id}".`;

/** Why the engine of a session brings no text, as far as this process knows; null when it does. */
export const whyWaiting = (engines: Pick<Engines, 'find'>, id: string): string | null => {
  const engine = engines.find(id);
  if (engine === null) return notHere(id);
  const state = engine.state();
  return state === 'ready' ? null : state;
};

export type EngineAskDeps = {
  readonly engines: Pick<Engines, 'find'>;
  readonly ports: { readonly clock: Pick<Clock, 'after'> };
};

/** Asks an engine for a ghost's text. */
export type AskEngine = (
  asker: { readonly tenant: string; readonly engine: string },
  asked: AskedOfModel,
  signal: AbortSignal,
) => Promise<string>;

/**
 * What asks the engines of a process, a few at once. It raises Rejection CORTEX_UNAVAILABLE when this server does not have the engine or the engine
 * gives no text, BUSY when too many wait for it, and the reason of the signal.
 */
export const askEngines = ({ engines, ports }: EngineAskDeps): AskEngine => {
  const places = new Map<string, FairPlaces>();
  const placesOf = ({ id, runtime }: CortexEngine): FairPlaces => {
    const most = runtime === 'llama.cpp' ? OWN_MODEL_TEXTS : ENGINE_TEXTS;
    const known = places.get(id) ?? sharePlaces({ clock: ports.clock, most, waitMs: PLACE_WAIT_MS });
    places.set(id, known);
    return known;
  };
  return async ({ tenant, engine: id }, { prompt, constraints, similarities }, signal) => {
    const engine = engines.find(id);
    if (engine === null)
      throw new Rejection('CORTEX_UNAVAILABLE', { details: { cortexId: id, reason: notHere(id) }, retryAfter: 1 });
    const { text } = await placesOf(engine)(tenant, signal, () =>
      engine.complete({ prompt, ...constraints, similarities }, signal),
    );
    return cutBytes(text, TEXT_BYTES);
  };
};
