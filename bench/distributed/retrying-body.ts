import { setTimeout as sleep } from 'node:timers/promises';

import { pathOf, turnAt } from '../scene.js';

/** The timeout of a request, the wait of a body without `Retry-After`, and the time after which it abandons a turn, in milliseconds. */
const REQUEST_MS = 15_000;
const PAUSE_MS = 1_000;
const TURN_MS = 120_000;

/** The answers to bodies so far. */
export type Answers = {
  ok: number;
  later: number;
  /** How many requests got no answer, by reason. */
  failed: Record<string, number>;
  /** When those without an answer were sent, on the monotonic clock. */
  unansweredMs: number[];
  turns: number;
  givenUp: number;
  latenciesMs: number[];
};

export const noAnswers = (): Answers => ({
  ok: 0,
  later: 0,
  failed: {},
  unansweredMs: [],
  turns: 0,
  givenUp: 0,
  latenciesMs: [],
});

/** Plays one turn as a client should: it retries a refusal after its `Retry-After`, and sends a request without a response to another server. */
export const playRetrying = async (
  urls: () => readonly string[],
  key: string,
  { mind, moment }: { readonly mind: number; readonly moment: number },
  answers: Answers,
): Promise<void> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const untilMs = performance.now() + TURN_MS;
  for (const [at, request] of turnAt(mind, moment).entries()) {
    const body = JSON.stringify(request);
    const keyed = { ...headers, 'idempotency-key': `${String(mind)}-${String(moment)}-${String(at)}` };
    for (let tries = 0; ; tries += 1) {
      if (performance.now() > untilMs) {
        answers.givenUp += 1;
        return;
      }
      const all = urls();
      const url = all[(mind + tries) % all.length] ?? '';
      const beganMs = performance.now();
      const told = await fetch(`${url}${pathOf(mind, 'process')}`, {
        method: 'POST',
        headers: keyed,
        body,
        signal: AbortSignal.timeout(REQUEST_MS),
      }).then(
        async (response) => ({
          status: response.status,
          after: response.headers.get('retry-after'),
          text: await response.text(),
        }),
        (error: unknown) => {
          const reason = reasonOf(error);
          answers.failed[reason] = (answers.failed[reason] ?? 0) + 1;
          answers.unansweredMs.push(beganMs);
          return null;
        },
      );
      if (told?.status === 200) {
        answers.ok += 1;
        answers.latenciesMs.push(performance.now() - beganMs);
        break;
      }
      if (told !== null && (told.status === 503 || told.status === 409 || told.status === 429)) answers.later += 1;
      else if (told !== null) throw new Error(`a step was answered with status ${String(told.status)}: ${told.text}`);
      const seconds = Number(told?.after ?? NaN);
      await sleep(Number.isNaN(seconds) ? PAUSE_MS : seconds * 1_000);
    }
  }
  answers.turns += 1;
};

const reasonOf = (error: unknown): string => {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return cause?.code ?? name ?? String(error);
};
