import { expect, it } from 'vitest';

import { ASK_TIMEOUT_MS, replyTo } from '../../../src/adapters/temporal/ask-reply.js';
import type { Update } from '../../../src/adapters/temporal/process-workflows.js';
import { createServerClock } from '../../../src/adapters/temporal/server-clock.js';
import { npcStream } from '../../../src/domain/shared/stream-names.js';
import type { AskResult } from '../../../workflows/process-step.js';
import { ManualClock } from '../../support/manual-clock.js';

it('asks afresh for what the server remembers of an earlier ask, within the time of one ask', async () => {
  const clock = new ManualClock();
  const stream = npcStream('studio', 'runner');
  const ref = { process: 'race', id: 'r', stream };
  const by = { tenant: 'studio', actor: 'key', commandId: 'c', correlationId: 'c', causationId: null };
  const refused = { refused: { code: 'CONFLICT', message: '', details: {} } } as const;
  const results: AskResult[] = [
    { token: 'earlier', reply: refused },
    { token: 'mine', reply: { revision: 1, position: 1 } },
  ];
  const limits: number[] = [];
  const ids = new Set<string>();
  const update = async (_: unknown, { timeoutMs, idOf }: Update): Promise<never> => {
    limits.push(timeoutMs);
    ids.add(idOf());
    await clock.advance(3_000);
    return results.shift() as never;
  };
  const reply = await replyTo({ workflows: { update }, clock, serverClock: createServerClock() }, ref, { stream, inputs: [], by, token: 'mine' });
  expect(reply).toEqual({ revision: 1, position: 1 });
  expect(limits).toEqual([ASK_TIMEOUT_MS, ASK_TIMEOUT_MS - 3_000]);
  expect(ids.size).toBe(2);
});
