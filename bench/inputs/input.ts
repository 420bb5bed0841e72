import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 50;
const LOOK_LIMIT_MS = 600_000;

/** The request to the measured server. */
export type Sent = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body?: object;
  /** The JSON text that the server parses once, if it is not the body. */
  readonly parses?: string;
  /** The header Authorization, if not the owner's key. */
  readonly authorization?: string;
  /** Waits for the background work that the answer announces. */
  readonly until?: (answer: unknown) => Promise<void>;
};

/** Sends a request, and reads its complete answer. @throws Error if the answer is a refusal */
export type Send = (sent: Sent) => Promise<unknown>;

/** The largest legal input of one route: it may send others first. `name` is new in each round, and not the name of anything else. */
export type Input = (name: string, send: Send) => Promise<Sent>;

/** An object with this many members. */
export const members = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`member ${n}`, n]));

/** A text of this many characters, whose words all differ. */
export const differing = (chars: number): string =>
  Array.from({ length: chars / 10 }, (_, n) => `word ${100_000 + n}`)
    .join('')
    .slice(0, chars);

/** As many memories as one result may contain, at both of its bounds. */
export const memories = Array.from({ length: 990 }, (_, n) => ({
  ...{ text: `${n} ${'a stranger paid in gold '.repeat(19)}`, type: 'experience', importance: 0.5, similarity: 0.5 },
}));

export const post = (path: string, body: object): Sent => ({ method: 'POST', path, body });
export const get = (path: string): Sent => ({ method: 'GET', path });

/** Waits until the server's answer meets a condition. @throws Error if none does within LOOK_LIMIT_MS */
export const untilSaid = async (send: Send, asked: Sent, isOver: (answer: unknown) => boolean): Promise<void> => {
  const untilMs = performance.now() + LOOK_LIMIT_MS;
  while (!isOver(await send(asked))) {
    if (performance.now() > untilMs)
      throw new Error(`${asked.path} did not come to its end within ${String(LOOK_LIMIT_MS)} ms`);
    await sleep(LOOK_MS);
  }
};
