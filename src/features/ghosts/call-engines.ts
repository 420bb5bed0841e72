import { LRUCache } from 'lru-cache';

import { Rejection } from '../../kernel/base/rejection.js';
import { cutBytes, cutText } from '../../kernel/base/text.js';
import type { Clock } from '../../ports/clock.js';
import type { CortexEngine } from '../../ports/cortex.js';
import type { Engines } from '../engines/engines.js';
import { FairSemaphore } from '../../kernel/concurrency/fair-semaphore.js';
import type { SessionTurnPrompt } from './session-turn.js';

/** How many texts an in-process model produces for ghosts at a time: it works sequentially, and agents need answers too. */
const OWN_MODEL_TEXTS = 1;
/** How long a ghost waits for a permit before it retries later, in milliseconds. */
export const PERMIT_WAIT_MS = 60_000;
/** The maximum number of ghosts that wait for an engine, in total and of one tenant; others retry later. */
const WAITING = 32;
const TENANT_WAITING = 8;
/** How much of an engine's text is used, in bytes of UTF-8: a checkpoint, this step and the answer to it must fit into one event. */
export const TEXT_BYTES = 8_192;
/** How many waiting sessions a process remembers, and the limit of a reason, in UTF-16 units. */
const KEPT_REASONS = 1_000;
const REASON_CHARS = 500;

const FOR_A_PLACE = 'The engine is busy with the texts of other ghost sessions.';
const notHere = (id: string): string => `This server does not have the engine "${id}".`;

/** A session that needs a text, after `step` steps. */
export type AskingSession = {
  readonly tenant: string;
  readonly sessionId: string;
  readonly engine: string;
  readonly step: number;
};

/**
 * Requests a ghost's text from an engine, with few requests at a time. It raises Rejection CORTEX_UNAVAILABLE if this server does not have the engine
 * or the engine gives no text, for whatever reason: its session waits; BUSY if too many wait for it, and the reason of the signal.
 */
export type RequestGhostText = (
  session: AskingSession,
  asked: SessionTurnPrompt,
  signal: AbortSignal,
) => Promise<string>;

/** The engines of a process, for its ghosts. */
export type GhostEngines = {
  readonly ask: RequestGhostText;
  /** Why the engine of a session provides no text for its next step, if this process knows a reason; null if it does deliver. */
  readonly whyWaiting: (session: AskingSession) => string | null;
};

export type GhostEnginesDeps = {
  readonly engines: Pick<Engines, 'find'>;
  readonly clock: Pick<Clock, 'after'>;
  /** How many texts any other engine produces for the ghosts of this process at a time. */
  readonly texts: number;
};

const queue = { queueLimit: WAITING, tenantQueueLimit: TENANT_WAITING };

const keyOf = ({ tenant, sessionId }: AskingSession): string => `${tenant} ${sessionId}`;

const reasonOf = ({ code, details, message }: Rejection): string => {
  if (code === 'BUSY') return FOR_A_PLACE;
  const { reason } = details;
  return cutText(typeof reason === 'string' && reason !== '' ? reason : message, REASON_CHARS);
};

/** A session has no turn to give up: it waits for its text, also after a prompt that got none. */
const waiting = (error: unknown): unknown =>
  error instanceof Rejection && error.code === 'CORTEX_NO_ANSWER'
    ? new Rejection('CORTEX_UNAVAILABLE', { details: error.details, retryAfter: 1 })
    : error;

/** The last reason that a session met; it counts until the session's next step is recorded. */
const createReasonCache = () => {
  const kept = new LRUCache<string, { readonly step: number; readonly reason: string }>({ max: KEPT_REASONS });
  return {
    of: (session: AskingSession): string | null => {
      const known = kept.get(keyOf(session));
      return known?.step === session.step ? known.reason : null;
    },
    note: (session: AskingSession, reason: string) => kept.set(keyOf(session), { step: session.step, reason }),
    forget: (session: AskingSession) => kept.delete(keyOf(session)),
  };
};

export const createGhostEngines = ({ engines, clock, texts }: GhostEnginesDeps): GhostEngines => {
  const semaphores = new Map<string, FairSemaphore>();
  const reasons = createReasonCache();
  const semaphoreOf = ({ id, runtime }: CortexEngine): FairSemaphore => {
    const permits = runtime === 'llama.cpp' ? OWN_MODEL_TEXTS : texts;
    const semaphore =
      semaphores.get(id) ?? new FairSemaphore({ ...queue, permits, limit: { clock, waitMs: PERMIT_WAIT_MS } });
    semaphores.set(id, semaphore);
    return semaphore;
  };
  const askIn = async (session: AskingSession, { prompt, constraints }: SessionTurnPrompt, signal: AbortSignal) => {
    const { tenant, engine: id } = session;
    const engine = engines.find(id);
    if (engine === null)
      throw new Rejection('CORTEX_UNAVAILABLE', { details: { cortexId: id, reason: notHere(id) }, retryAfter: 1 });
    // The engine's earlier reason for this prompt is more informative than a retry.
    const isNew = reasons.of(session) === null;
    if (isNew) reasons.note(session, FOR_A_PLACE);
    return semaphoreOf(engine).run({ tenant, signal }, () => {
      if (isNew) reasons.forget(session);
      return engine.complete({ prompt, ...constraints }, signal);
    });
  };
  return {
    ask: async (session, asked, signal) => {
      try {
        const { text } = await askIn(session, asked, signal);
        reasons.forget(session);
        return cutBytes(text, TEXT_BYTES);
      } catch (error) {
        if (signal.aborted) reasons.forget(session);
        else if (error instanceof Rejection) reasons.note(session, reasonOf(error));
        throw waiting(error);
      }
    },
    whyWaiting: (session) => {
      const state = engines.find(session.engine)?.state() ?? notHere(session.engine);
      return reasons.of(session) ?? (state === 'ready' ? null : state);
    },
  };
};
