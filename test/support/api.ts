/** An answer, read to its end. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers of every shape
  readonly body: any;
};

export type Api = {
  (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Reply>;
  readonly post: (path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Reply>;
};

/** The code of a refusal (contract 1.5); undefined for any other answer. */
export const codeOf = (reply: Reply): string | undefined =>
  (reply.body as { error?: { code?: string } } | undefined)?.error?.code;

/** Talks to a server with one key, or with none when it is undefined. */
export const apiOf = (url: string, key: string | undefined): Api => {
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> => {
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
  return Object.assign(ask, {
    get: (path: string, headers?: Readonly<Record<string, string>>) => ask('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Readonly<Record<string, string>>) =>
      ask('POST', path, body, headers),
  });
};
