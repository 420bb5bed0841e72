import { startTypeScript } from './child.js';

const MAIN = new URL('../../scripts/servers/main.ts', import.meta.url);

export type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs `npm run servers -- <args>` to its end. EVENTSTORE_URL counts only when it is among the given variables. */
export const runServers = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Outcome> => {
  await using child = startTypeScript(MAIN, { args, env: { EVENTSTORE_URL: '', ...env } });
  const { code } = await child.exited();
  return { code, stdout: child.stdout, stderr: child.stderr };
};
