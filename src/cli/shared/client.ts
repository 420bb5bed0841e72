import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { readOwnerKey } from '../../adapters/files/owner-key-file.js';
import { sleepFor } from '../../body/deadline.js';
import { createMindRequest, MindError, type MindRequest } from '../../body/mind-request.js';
import { DEFAULT_DATA_DIR, DEFAULT_URL } from '../../config/config.js';
import { defined } from '../../kernel/base/defined.js';
import { isObject } from '../../kernel/base/json.js';
import { CommandFailed, remark, type Terminal, WrongUsage } from './terminal.js';

export type ClientSettings = { readonly url: string; readonly key: string | null; readonly dataDir: string };

const set = (value: string | undefined): string | null =>
  value === undefined || value.trim() === '' ? null : value.trim();

/** Where commands find the server and its key. @throws WrongUsage if `ANIMA_URL` is not an HTTP address */
export const clientSettings = ({ env, cwd }: Pick<Terminal, 'env' | 'cwd'>): ClientSettings => {
  const url = set(env['ANIMA_URL']) ?? DEFAULT_URL;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new WrongUsage(`ANIMA_URL must be an address such as ${DEFAULT_URL}, not ${JSON.stringify(url)}.`);
  }
  return { url, key: set(env['ANIMA_API_KEY']), dataDir: resolve(cwd, set(env['ANIMA_DATA_DIR']) ?? DEFAULT_DATA_DIR) };
};

export const noDataDirectory = (dataDir: string): string =>
  `There is no data directory at ${dataDir}. Set ANIMA_DATA_DIR to the server's data directory.`;

const noServerAt = (url: string): string =>
  `No server answers at ${url}. Start one with "npx anima serve", or set ANIMA_URL to another address.`;

const ownerKey = async (dataDir: string): Promise<string> => {
  const path = join(dataDir, 'owner-key');
  let key: string | null;
  try {
    key = await readOwnerKey(dataDir);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CommandFailed(`The owner key in ${path} cannot be read (${reason}). Set ANIMA_API_KEY instead.`);
  }
  if (key !== null && key !== '') return key;
  throw new CommandFailed(
    existsSync(dataDir)
      ? `No API key: set ANIMA_API_KEY, or put the server's owner key in ${path}.`
      : `No API key: set ANIMA_API_KEY, or use the server's owner key. ${noDataDirectory(dataDir)}`,
  );
};

/** A problem of a map, a ruleset or another document. */
export const problemLine = (found: unknown): string => {
  if (!isObject(found)) return String(found);
  const { pointer, message, meant } = found;
  if (typeof pointer === 'string' && typeof message === 'string')
    return `${pointer}: ${message}${typeof meant === 'string' ? ` Perhaps ${meant} was meant.` : ''}`;
  const { layer, object, problem } = found as { layer?: unknown; object?: unknown; problem?: unknown };
  const names = [layer, object].filter((name) => typeof name === 'string');
  return [...names, String(problem)].join(': ');
};

/** Codes whose reason is shown behind the message. */
const TOLD = ['CORTEX_NO_ANSWER', 'CORTEX_UNAVAILABLE', 'LOG_CHANGED', 'SOUL_INVALID'];

/** What a server says, without the names of members of its answer, which a terminal does not show. */
const saidBy = ({ code, message, details }: MindError): string => {
  const { reason, revision, stream } = details;
  if (code === 'CHAIN_BROKEN' && typeof revision === 'number') {
    const of = typeof stream === 'string' ? ` of ${stream}` : '';
    return message.replace('details.revision', `revision ${String(revision)}${of}`);
  }
  if (!TOLD.includes(code) || typeof reason !== 'string') return message;
  return `${message.replace(/; details\.reason says (why|how)/, '')} ${reason}`;
};

/** The message for a failed request; null for other errors. @param ownerKeyOf the data directory whose owner key was used */
export const describeFailure = (error: unknown, url: string, ownerKeyOf: string | null = null): string | null => {
  if (!(error instanceof MindError)) return null;
  if (error.code === 'UNREACHABLE') {
    return noServerAt(url);
  }
  if (error.code === 'UNAUTHORIZED') {
    return ownerKeyOf === null
      ? `The server at ${url} does not accept this key. Set ANIMA_API_KEY to a valid key, or unset it to use the owner key.`
      : `The server at ${url} does not accept the owner key in ${ownerKeyOf}. Set ANIMA_DATA_DIR to that server's data directory, or ANIMA_API_KEY to one of its keys.`;
  }
  const issues = Array.isArray(error.details['issues']) ? (error.details['issues'] as readonly unknown[]) : [];
  const lines = issues.map((issue) => {
    const { pointer, message } = issue as { readonly pointer?: unknown; readonly message?: unknown };
    return `  ${String(pointer)}: ${String(message)}`;
  });
  const problems = Array.isArray(error.details['problems'])
    ? error.details['problems'].map((found) => `  ${problemLine(found)}`)
    : [];
  const wait =
    error.retryAfter === null || error.code === 'RATE_LIMITED' ? '' : ` Try again in ${String(error.retryAfter)} s.`;
  const quoted = error.status >= 500 && error.requestId !== null ? `, request ${error.requestId}` : '';
  return [`${saidBy(error)}${wait} (${error.code}${quoted})`, ...lines, ...problems].join('\n');
};

/** How long a request waits for the rate limit in total, in milliseconds. A game may use the same key, and rates are counted per minute. */
const TURN_WAIT_MS = 90_000;

/** Retries while the key is over its rate limit: such a request was refused before it had any effect. */
const inTurn =
  (terminal: Terminal, request: MindRequest): MindRequest =>
  async (...call) => {
    for (let waitedMs = 0; ;) {
      try {
        return await request(...call);
      } catch (error) {
        if (!(error instanceof MindError) || error.code !== 'RATE_LIMITED' || error.retryAfter === null) throw error;
        const waitMs = error.retryAfter * 1_000;
        if (waitedMs + waitMs > TURN_WAIT_MS) throw error;
        remark(terminal, `This key has reached its rate limit. Waiting ${String(error.retryAfter)} s ...`);
        await sleepFor(waitMs);
        waitedMs += Math.max(1_000, waitMs);
      }
    }
  };

/** How long a download may stall, in milliseconds. */
const DOWNLOAD_STILL_MS = 60_000;

/**
 * Streams a response of any length.
 * @throws CommandFailed when there is no key, no server answers, it refuses, or the connection breaks
 */
export const openDownload = async (terminal: Terminal, path: string): Promise<AsyncIterable<Uint8Array>> => {
  const { url, key, dataDir } = clientSettings(terminal);
  const authorization = `Bearer ${key ?? (await ownerKey(dataDir))}`;
  const still = new AbortController();
  const watch = setTimeout(() => still.abort(), DOWNLOAD_STILL_MS);
  const response = await fetch(`${url}${path}`, { headers: { authorization }, signal: still.signal }).catch(() => null);
  if (response?.ok !== true || response.body === null) {
    clearTimeout(watch);
    const text = response === null ? null : await response.text().catch(() => '');
    if (text === null) throw new CommandFailed(noServerAt(url));
    throw new CommandFailed(
      refusalIn(text) ?? `The server at ${url} answered with HTTP ${String(response?.status ?? 0)}.`,
    );
  }
  const { body } = response;
  return (async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of body) {
        watch.refresh();
        yield chunk as Uint8Array;
      }
    } catch {
      throw new CommandFailed('The connection broke before the download was complete.');
    } finally {
      clearTimeout(watch);
    }
  })();
};

/** The message of an error response; null for any other text. */
const refusalIn = (text: string): string | null => {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly code?: unknown; readonly message?: unknown } };
    return error === undefined ? null : `${String(error.message)} (${String(error.code)})`;
  } catch {
    return null;
  }
};

/** A client for the server and key that the environment names. @param timeoutMs how long one request may take. @throws CommandFailed when there is no key */
export const openClient = async (terminal: Terminal, timeoutMs?: number): Promise<MindRequest> => {
  const { url, key, dataDir } = clientSettings(terminal);
  const options = { baseUrl: url, key: key ?? (await ownerKey(dataDir)), ...defined({ timeoutMs }) };
  const request = inTurn(terminal, createMindRequest(options));
  return async (...call) => {
    try {
      return await request(...call);
    } catch (error) {
      const sentence = describeFailure(error, url, key === null ? dataDir : null) ?? String(error);
      throw error instanceof MindError
        ? new CommandFailed(sentence, error.code, error.retryAfter, error.details)
        : new CommandFailed(sentence);
    }
  };
};
