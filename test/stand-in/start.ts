import { type Child, startTypeScript } from '../support/child.js';

/** Starts a stand-in on the data in a directory, on `port` or a free one; resolves once it listens. Disposing of the child kills it. */
export const startStandIn = async (
  data: string,
  port = 0,
): Promise<{ readonly child: Child; readonly url: string }> => {
  const child = startTypeScript(new URL('./main.ts', import.meta.url), {
    args: ['--port', String(port), '--data', data],
  });
  const line = await child.waitForLine(/^listening on /);
  return { child, url: `esdb://${line.slice('listening on '.length)}?tls=false` };
};
