import { setTimeout as sleep } from 'node:timers/promises';

import type { Api, Reply } from '../../support/api.js';
import type { GhostResults, GhostStep } from '../../support/ghosts.js';
import type { Case } from './cases.js';
import { digestsOf, type Played, resultsText } from './difference.js';

/** How long a server may be down, and how soon a request is retried, in milliseconds. */
const PATIENCE_MS = 180_000;
const AGAIN_MS = 500;
/** How often a session is checked, in milliseconds. */
const LOOK_MS = 3_000;
/** How long sessions may take as far as the server is concerned, in milliseconds: the trial has its own limit. */
const SESSION_MS = 86_400_000;
const PAGE = 250;

/** Retries until there is a response: servers are killed during it. @param api the current client @throws Error for a permanent refusal */
const patiently = async (api: () => Api, ask: (api: Api) => Promise<Reply>): Promise<Reply> => {
  for (const lateMs = performance.now() + PATIENCE_MS; ;) {
    const reply = await ask(api()).catch(() => null);
    if (reply !== null && reply.status < 300) return reply;
    const passes = reply === null || reply.headers.has('retry-after') || reply.status >= 500;
    if (!passes || performance.now() > lateMs) throw new Error(reply?.text ?? 'no server answers');
    await sleep(AGAIN_MS);
  }
};

export const ghostsOn = (api: () => Api) => {
  const get = async (path: string): Promise<Reply> => patiently(api, (to) => to.get(path));

  /** @param name identifies the session: a repeat finds the one that the first attempt began */
  const begin = async (wanted: Case, name: string): Promise<string> => {
    const body = { ...wanted, timeout: SESSION_MS };
    const run = (to: Api) => to.post('/v1/ghost/run', body, { 'Idempotency-Key': name });
    return ((await patiently(api, run)).body as { id: string }).id;
  };

  /** The record of a session, once it is over. @throws Error when it is not over in time */
  const played = async (id: string, lateMs: number): Promise<Played> => {
    for (;;) {
      const results = await endOf(id);
      if (results !== null) return { steps: await digests(id), results: resultsText(results) };
      if (performance.now() > lateMs) throw new Error(`the session ${id} does not end`);
      await sleep(LOOK_MS);
    }
  };

  /** Its results, once they are complete. While it plays, they would have to be made from its last steps each time. */
  const endOf = async (id: string): Promise<GhostResults | null> => {
    const { ghostStatus } = (await get(`/ghost/${id}/status`)).body as { ghostStatus: string };
    if (ghostStatus === 'pending' || ghostStatus === 'running') return null;
    const results = (await get(`/ghost/${id}/results`)).body as GhostResults;
    return results.resultsPartial === true ? null : results;
  };

  const digests = async (id: string): Promise<readonly string[]> => {
    const all: string[] = [];
    for (let from: number | undefined = 1; from !== undefined;) {
      const page = (await get(`/ghost/${id}/steps?from=${String(from)}&limit=${String(PAGE)}`)).body as {
        steps: GhostStep[];
        next?: number;
      };
      all.push(...digestsOf(page.steps));
      from = page.next;
    }
    return all;
  };
  return { begin, played };
};
export type Ghosts = ReturnType<typeof ghostsOn>;
