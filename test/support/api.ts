import { askPatiently } from './ask-patiently.js';

/** A response, read to its end. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests inspect responses of every shape
  readonly body: any;
};

type Headed = Readonly<Record<string, string>>;
type Ask = (method: string, path: string, body?: unknown, headers?: Headed) => Promise<Reply>;

export type Api = Ask & {
  readonly get: (path: string, headers?: Headed) => Promise<Reply>;
  readonly post: (path: string, body?: unknown, headers?: Headed) => Promise<Reply>;
};

/** The code of a refusal; undefined for any other response. */
export const codeOf = (reply: Reply): string | undefined =>
  (reply.body as { error?: { code?: string } } | undefined)?.error?.code;

const withMethods = (ask: Ask): Api =>
  Object.assign(ask, {
    get: (path: string, headers?: Headed) => ask('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Headed) => ask('POST', path, body, headers),
  });

/** A client of a server with one key, or with none when it is undefined. */
export const apiOf = (url: string, key: string | undefined): Api => {
  const ask: Ask = async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? (JSON.parse(text) as unknown) : undefined,
    };
  };
  return withMethods(ask);
};

/**
 * As `apiOf`, for scenarios: a request that is refused because a store does not answer in time is sent again, as the refusal tells clients to.
 * A test that counts refusals, or records after a refusal, uses `apiOf`.
 */
export const patientApiOf = (url: string, key: string | undefined): Api => {
  const api = apiOf(url, key);
  return withMethods((...request) =>
    askPatiently(
      () => api(...request),
      (reply) => ['STORE_UNAVAILABLE', 'DATABASE_UNAVAILABLE'].includes(codeOf(reply) ?? ''),
    ),
  );
};
