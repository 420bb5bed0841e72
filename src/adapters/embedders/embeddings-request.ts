import { boundedText } from '../shared/bounded-text.js';

/** Where vectors are asked for, by the name of which model, and with which key. */
export type EmbeddingsApi = { readonly url: string; readonly model: string; readonly key: string | null };

/** Longer answers are not read, in bytes: 64 vectors of 8,192 numbers stay below it. */
const ANSWER_BYTES = 16 * 1_048_576;

/** A request that brought no vectors. Its message holds nothing that the server sent, which may repeat our key. */
export class EmbeddingsFailure extends Error {
  /** Whether another try may succeed. */
  readonly passing: boolean;
  /** Whether the server refused this input, and is well. */
  readonly ofText: boolean;
  /** How long the server wants to be left alone, in milliseconds. */
  readonly waitMs: number | null;

  constructor(
    reason: string,
    { passing, ofText = false, waitMs = null }: { passing: boolean; ofText?: boolean; waitMs?: number | null },
  ) {
    super(reason);
    this.name = 'EmbeddingsFailure';
    this.passing = passing;
    this.ofText = ofText;
    this.waitMs = waitMs;
  }
}

/**
 * The vectors of these texts, as they came, from `POST <url>/embeddings` of an OpenAI-compatible server.
 * @throws EmbeddingsFailure, or the reason of the signal
 */
export const requestEmbeddings = async (
  { url, model, key }: EmbeddingsApi,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly (readonly number[])[]> => {
  try {
    const answer = await fetch(`${url}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
      // The key is for this address alone.
      redirect: 'manual',
      signal,
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw refused(answer);
    }
    const text = await boundedText(answer, ANSWER_BYTES);
    if (text === null) throw wrong(`its answer is longer than ${String(ANSWER_BYTES)} bytes`);
    return embeddingsOf(text, texts.length);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EmbeddingsFailure) throw error;
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
    throw new EmbeddingsFailure(typeof code === 'string' ? code : 'the connection failed', { passing: true });
  }
};

const refused = ({ status, headers }: Response): EmbeddingsFailure => {
  const seconds = headers.get('retry-after') ?? '';
  return new EmbeddingsFailure(`HTTP ${String(status)}`, {
    passing: status === 408 || status === 429 || status >= 500,
    ofText: status === 400 || status === 413 || status === 422,
    waitMs: /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : null,
  });
};

const wrong = (reason: string): EmbeddingsFailure => new EmbeddingsFailure(reason, { passing: false });

const embeddingsOf = (text: string, count: number): readonly (readonly number[])[] => {
  const items = itemsOf(text);
  if (items?.length !== count) throw wrong('its answer does not have one embedding for each text');
  const placed = new Array<readonly number[] | undefined>(count).fill(undefined);
  for (const [at, item] of items.entries()) {
    const { index = at, embedding } = (item ?? {}) as { readonly index?: unknown; readonly embedding?: unknown };
    if (typeof index === 'number' && index in placed && isVector(embedding)) placed[index] = embedding;
  }
  const [first] = placed;
  return placed.map((embedding) => {
    if (embedding === undefined) throw wrong('its answer holds something other than vectors');
    if (embedding.length !== first?.length) throw wrong('its answer has vectors of different lengths');
    return embedding;
  });
};

const itemsOf = (text: string): readonly unknown[] | null => {
  try {
    const { data } = JSON.parse(text) as { readonly data?: unknown };
    return Array.isArray(data) ? data : null;
  } catch {
    return null;
  }
};

const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((number) => Number.isFinite(number));
