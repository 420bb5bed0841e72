import { type Child, startTypeScript } from '../support/child.js';
import type { ServerName } from './like.js';

/** The address of a server on this machine. */
export const urlOf = (port: number): string => `esdb://127.0.0.1:${port}?tls=false`;

export type StandIn = { readonly child: Child; readonly port: number; readonly url: string };

export type StandInOptions = {
  /** Its port; by default a free one. */
  readonly port?: number;
  /** The server that it imitates. */
  readonly like?: ServerName;
  /** The number of events of other programs in a new log. */
  readonly foreign?: number;
};

/** Starts a stand-in on a directory's data. Resolves once it listens. Disposing of the child kills it. */
export const startStandIn = async (
  data: string,
  { port = 0, like = 'eventstoredb-23.10', foreign = 0 }: StandInOptions = {},
): Promise<StandIn> => {
  const child = startTypeScript(new URL('./main.ts', import.meta.url), {
    args: ['--port', String(port), '--data', data, '--like', like, '--foreign', String(foreign)],
  });
  const listening = Number(/:(\d+)$/.exec(await child.waitForLine(/^listening on /))?.[1]);
  return { child, port: listening, url: urlOf(listening) };
};
