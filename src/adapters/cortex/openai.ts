import { LRUCache } from 'lru-cache';

import { defined } from '../../kernel/base/defined.js';
import { pause } from '../../kernel/concurrency/pause.js';
import { withTimeLimit } from '../../kernel/concurrency/time-limit.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import type { Clock } from '../../ports/clock.js';
import type { Completion, CortexEngine } from '../../ports/cortex.js';
import type { Log } from '../../ports/log.js';
import { PromptTooLong } from '../../ports/prompt-too-long.js';
import type { Random } from '../../ports/random.js';
import { backoffMs } from '../shared/backoff.js';
import { createBreaker, OPEN_MS } from './breaker.js';
import { createAnswerListeners } from './answer-listeners.js';
import { AttemptFailed } from './attempt-failed.js';
import { listedContext } from './context-tokens.js';
import { callModelServer, type ModelServer } from './model-server.js';
import { noAnswer } from './no-answer.js';
import { parametersIn } from './parameters-in.js';
import type { ModelAnswer } from './read-answer.js';
import { createRefusedMembers } from './refused-members.js';
import { requestBody } from './request-body.js';
import { unavailable } from './unavailable.js';
import { untilStop } from './until-stop.js';

/**
 * The timeout of a call, with its attempts and pauses, in milliseconds: less than the 60 s that a turn gives it. The end of those 60 s shows nothing
 * about the server.
 */
const CALL_MS = 50_000;
const ATTEMPTS = 3;
/** The longest pause before the second attempt, in milliseconds; it doubles with each attempt. */
const BACKOFF_MS = 500;
/** If a server requests a longer pause, in milliseconds, the call fails. */
const LONGEST_RETRY_AFTER_MS = 5_000;

const ID = 'openai';
/** A server that has answered within this time, in milliseconds, accepts the key: it forbids the prompt. */
const TAKES_KEY_MS = 60_000;
/** An answer that was cut off in its object, or before it said anything, is asked for once more, with this many times the tokens, and at most so many. */
const MORE_ROOM = 4;
const MOST_TOKENS = 8_192;
/** How long the reason of a call that returned no text is told to those who wait for another, in milliseconds. */
const PROBLEM_MS = 60_000;
/** An engine that has given a text within this time, in milliseconds, is ready, unless so many different prompts have got none since. */
const GIVES_TEXTS_MS = 60_000;
const PROMPTS_WITHOUT_TEXT = 3;
/** How often one reason is logged, in milliseconds, and how many are remembered for that. */
const LOG_AGAIN_MS = 60_000;
const REASONS_LOGGED = 100;

export type OpenAiEngineDeps = { readonly clock: Clock; readonly random: Random; readonly log: Log };

/** The server's answer to this one request cannot be used. */
const isBadAnswer = ({ status }: AttemptFailed): boolean => status === 200;
/** Request Timeout, Conflict, Too Early, Too Many Requests: these are temporary, although they are 4xx. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);
/** No answer, a bad one, or a server that is busy or broken: another attempt may help. */
const passes = (failure: AttemptFailed): boolean =>
  failure.status === null || failure.status >= 500 || PASSING.has(failure.status) || isBadAnswer(failure);
/** A refused key, an unpaid bill, an unknown model or path, a redirect: every other request would fail the same way. */
const isDefinite = ({ status }: AttemptFailed): boolean =>
  status !== null && (status === 401 || status === 402 || status === 404 || (status >= 300 && status < 400));
/** The server is up, and refuses this one request. */
const isRefusal = ({ status }: AttemptFailed): boolean => status === 400 || status === 413 || status === 422;

/** The caller's own time limit ended the call: the server was too slow for it. */
const isTooLate = ({ reason }: AbortSignal): boolean =>
  reason instanceof Rejection && reason.code === 'CORTEX_UNAVAILABLE';

/** A model behind any OpenAI-compatible server. Its key is never in a log, message or error. */
export const createOpenAiEngine = (server: ModelServer, { clock, random, log }: OpenAiEngineDeps): CortexEngine => {
  const breaker = createBreaker(clock);
  const members = createRefusedMembers((how) => {
    log.info(
      { cortexId: ID, how },
      'The model server refuses a member of the request; sending requests without it from now on',
    );
  });
  const listeners = createAnswerListeners();
  /** When each reason was logged. */
  const logged = new LRUCache<string, number>({ max: REASONS_LOGGED });
  /** When the server last accepted the key, and when it last gave a text. */
  let answeredMs = -Infinity;
  let gaveTextMs = -Infinity;
  /** The digests of prompts without a text since then. */
  const withoutText = new Set<string>();
  let problem: { readonly reason: string; readonly atMs: number } | null = null;

  const ask = (asked: Completion, signal: AbortSignal): Promise<ModelAnswer> =>
    members.ask(requestBody(server, asked), (body) => callModelServer(server, body, signal, asked.onText));

  /** A server that forbids a prompt soon after it has answered another accepts the key. */
  const isForbidden = ({ status }: AttemptFailed): boolean =>
    status === 403 && clock.monotonicMs() - answeredMs < TAKES_KEY_MS;

  /** The server is up: only this prompt gets no answer. */
  const isOfPrompt = (failure: AttemptFailed): boolean =>
    isRefusal(failure) || isBadAnswer(failure) || isForbidden(failure);

  const noteAnswer = (): void => {
    if (breaker.reason() !== null) log.info({ cortexId: ID }, 'Engine is available again');
    breaker.succeeded();
    answeredMs = clock.monotonicMs();
    listeners.notify();
  };

  /** A failure that depends on one prompt must not stop the other tenants' calls to the server. */
  const noteFailure = (failure: AttemptFailed): void => {
    if (isRefusal(failure) || isBadAnswer(failure)) {
      noteAnswer();
      return;
    }
    if (isForbidden(failure)) {
      breaker.left();
      return;
    }
    const before = breaker.reason();
    breaker.failed(failure.reason, isDefinite(failure));
    const reason = breaker.reason();
    if (reason !== null && reason !== before) {
      log.warn({ cortexId: ID, reason }, 'Engine is unavailable; retrying every few seconds');
    }
  };

  const logNoAnswer = (reason: string): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - (logged.get(reason) ?? -Infinity) < LOG_AGAIN_MS) return;
    logged.set(reason, nowMs);
    log.warn({ cortexId: ID, reason }, 'The engine is up, and gave no text');
  };

  /** One attempt behind the breaker. @throws Rejection CORTEX_UNAVAILABLE while it is open, and what `ask` throws */
  const attempt = async (asked: Completion, signal: AbortSignal, caller: AbortSignal): Promise<ModelAnswer> => {
    const waitMs = breaker.enter();
    if (waitMs > 0) throw unavailable(ID, breaker.reason() ?? '', waitMs / 1000);
    const beganMs = clock.monotonicMs();
    try {
      const completed = await ask(asked, signal);
      noteAnswer();
      return completed;
    } catch (error) {
      if (error instanceof AttemptFailed) noteFailure(error);
      // A server that has answered others meanwhile is not down because this call took too long, whoever set the limit.
      else if (answeredMs > beganMs || (caller.aborted && !isTooLate(caller))) breaker.left();
      else noteFailure(new AttemptFailed('The model server did not respond in time.'));
      throw error;
    }
  };

  /** The pause before another attempt in milliseconds, null if none makes sense. */
  const pauseAfter = (failure: AttemptFailed, attempts: number): number | null => {
    if (!passes(failure) || attempts >= ATTEMPTS || breaker.reason() !== null) return null;
    if (failure.retryAfterMs > LONGEST_RETRY_AFTER_MS) return null;
    return Math.max(backoffMs(random, BACKOFF_MS, attempts), failure.retryAfterMs);
  };

  /** @param caller the caller's signal; `signal` also aborts when the call takes too long */
  const attempts = async (asked: Completion, signal: AbortSignal, caller: AbortSignal): Promise<ModelAnswer> => {
    let asking = asked;
    /** The answer that was cut off, while one with more room is asked for. */
    let cut: ModelAnswer | null = null;
    const mayWiden = (): boolean => asking === asked && (asked.maxTokens ?? MOST_TOKENS) < MOST_TOKENS;
    const widen = (): void => {
      asking = { ...asked, maxTokens: Math.min((asked.maxTokens ?? 0) * MORE_ROOM, MOST_TOKENS) };
    };
    for (let made = 1; ; made += 1) {
      try {
        const answer = await attempt(asking, signal, caller);
        if (!answer.needsRoom || !mayWiden()) return answer;
        cut = answer;
        widen();
      } catch (failure) {
        if (cut !== null && !signal.aborted) return cut;
        if (!(failure instanceof AttemptFailed)) throw failure;
        if (failure.needsRoom && mayWiden()) {
          widen();
          continue;
        }
        const ms = asked.once === true && isBadAnswer(failure) ? null : pauseAfter(failure, made);
        if (ms === null) {
          problem = { reason: failure.reason, atMs: clock.monotonicMs() };
          if (withoutText.size < PROMPTS_WITHOUT_TEXT) withoutText.add(sha256Base64url(asked.prompt));
          const openMs = breaker.reason() === null ? 0 : OPEN_MS;
          if (isOfPrompt(failure)) {
            logNoAnswer(failure.reason);
            const { reason, tooLongFor } = failure;
            throw tooLongFor === undefined ? noAnswer(ID, reason) : new PromptTooLong(ID, reason, tooLongFor);
          }
          throw unavailable(ID, failure.reason, Math.max(openMs, failure.retryAfterMs) / 1000);
        }
        await pause(clock, ms, signal);
        signal.throwIfAborted();
      }
    }
  };

  const late = (): Error => unavailable(ID, 'The model server did not respond in time.');
  return {
    id: ID,
    name: server.model,
    runtime: 'http',
    parameters: parametersIn(server.model),
    ...defined({ inTurns: server.inTurns }),
    state: () => {
      const isRecent = clock.monotonicMs() - gaveTextMs < GIVES_TEXTS_MS;
      const givesTexts = isRecent && withoutText.size < PROMPTS_WITHOUT_TEXT;
      return breaker.reason() ?? (givesTexts ? null : problem?.reason) ?? 'ready';
    },
    down: () => breaker.away(),
    problem: () => (problem !== null && clock.monotonicMs() - problem.atMs < PROBLEM_MS ? problem.reason : null),
    onAnswer: (listener) => listeners.add(listener),
    knownContext: () => server.contextTokens ?? null,
    contextTokens: async (signal) => server.contextTokens ?? listedContext(server, signal),
    complete: async (asked, signal) => {
      const beganMs = clock.monotonicMs();
      const { text, stats, reasoning } = await withTimeLimit(clock, { ms: CALL_MS, late, signal }, (limited) =>
        attempts(asked, limited, signal),
      );
      problem = null;
      gaveTextMs = clock.monotonicMs();
      withoutText.clear();
      return {
        text: untilStop(text, asked.stop),
        ...defined({ reasoning }),
        stats: { ...stats, ms: Math.round(clock.monotonicMs() - beganMs) },
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
};
