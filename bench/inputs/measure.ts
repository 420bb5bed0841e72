import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { askProbe } from '../ask-probe.js';
import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { milliseconds, type PartReport } from '../report.js';
import { spreadOf } from '../rounds.js';
import { settled, startMindServer } from '../server.js';
import { threadClock } from '../thread-time.js';
import type { Input, Send } from './input.js';

const PROBE = fileURLToPath(new URL('../loop-probe.js', import.meta.url));
/** The goal: how long a legal request may hold the event loop in addition to one JSON.parse, in milliseconds. */
const GOAL_MS = 20;

/** Figures of one input: how long it held the loop, and one JSON.parse of its body, in milliseconds. */
type Try = { readonly hold: number; readonly parse: number };

/** How long the largest requests hold the event loop, with all their consequences, against one JSON.parse of the same body. */
export const measureInputs =
  (inputs: Readonly<Record<string, Input>>) =>
  async (effort: Effort): Promise<PartReport> => {
    await using directory = await temporaryDirectory();
    const told = join(directory.path, 'loop');
    const probed = { NODE_OPTIONS: `--import=${PROBE}`, ANIMA_BENCH_LOOP: told };
    await using server = await startMindServer(directory.path, probed);
    const send: Send = async ({ method, path, body, authorization = `Bearer ${server.key}` }) => {
      const headers = {
        authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const reply = await fetch(`${server.url}${path}`, { method, headers, ...sent });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 200)}`);
      return reply.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
    };
    const held = (): Promise<number> => askProbe(server, told);
    const threadMs = threadClock();
    const figures: PartReport['figures'][number][] = [];
    for (const [place, [what, input]] of Object.entries(inputs).entries()) {
      const once = async (at: number): Promise<Try> => {
        const sent = await input(`npc-${place}-${at + 1}`, send);
        const text = sent.parses ?? (sent.body === undefined ? 'null' : JSON.stringify(sent.body));
        const began = threadMs();
        JSON.parse(text);
        const parse = threadMs() - began;
        await settled(server);
        await held();
        const answer = await send(sent);
        await sent.until?.(answer);
        await settled(server);
        return { hold: await held(), parse };
      };
      // The first run meets code that was never compiled.
      await once(-1);
      const tries: Try[] = [];
      for (let at = 0; at < effort.rounds; at += 1) tries.push(await once(at));
      const ratio = spreadOf(tries.map(({ hold, parse }) => hold / (GOAL_MS + parse)));
      figures.push({
        what,
        ours: milliseconds(spreadOf(tries.map(({ hold }) => hold)).median),
        reference: `${GOAL_MS} ms and one JSON.parse: ${milliseconds(GOAL_MS + spreadOf(tries.map(({ parse }) => parse)).median)}`,
        ratio,
        goal: { text: '≤ 1', met: ratio.median <= 1 },
      });
    }
    return { figures, remarks: [] };
  };
