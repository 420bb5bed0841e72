import { afterEach, describe, expect, it } from 'vitest';

import { OpenProcessSweep } from '../../../src/adapters/temporal/sweep.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { OpenProcess } from '../../../src/ports/event-store.js';
import type { ProcessRef } from '../../../src/ports/process-runtime.js';
import { ManualClock } from '../../support/manual-clock.js';
import { settle } from '../../support/settle.js';
import { quiet } from '../../support/temporal.js';

const SWEEP_MS = 60_000;
const RETRY_MS = 5_000;
const HOUR_MS = 3_600_000;

describe('The sweep of open processes', () => {
  let sweep: OpenProcessSweep | undefined;
  afterEach(() => sweep?.stop());

  /** Processes named "turn" run together, the others alone. */
  const sweeping = () => {
    const clock = new ManualClock();
    const seen = {
      open: [] as OpenProcess[],
      together: [] as (readonly string[])[],
      alone: [] as string[],
      togetherFails: false,
      renewals: 0,
    };
    sweep = new OpenProcessSweep({
      clock,
      logger: quiet,
      events: { openProcesses: () => Promise.resolve(seen.open) },
      takeUpTogether: (refs: readonly ProcessRef[]) => {
        if (seen.togetherFails) return Promise.reject(new Error('Temporal is away'));
        seen.together.push(refs.filter(({ process }) => process === 'turn').map(({ id }) => id));
        return Promise.resolve(refs.filter(({ process }) => process !== 'turn'));
      },
      takeUp: ({ id }) => {
        seen.alone.push(id);
        return Promise.resolve();
      },
      renewFailing: () => {
        seen.renewals += 1;
        return Promise.resolve();
      },
    });
    const openProcess = (name: string, id: string, dueMs: number): OpenProcess => ({
      name,
      id,
      stream: npcStream('studio', id),
      due: new Date(clock.now().getTime() + dueMs).toISOString(),
    });
    return { clock, seen, openProcess, start: () => sweep?.start() };
  };

  it('checks for stuck workflows every minute, even if no process is open', async () => {
    const { clock, seen, start } = sweeping();
    start();
    await settle();
    expect(seen.renewals).toBe(1);
    await clock.advance(60_000);
    await settle();
    expect(seen.renewals).toBe(2);
  });

  it('resumes processes that run together in one call, and the others one by one', async () => {
    const { seen, openProcess, start } = sweeping();
    seen.open = [
      openProcess('turn', 't1', HOUR_MS),
      openProcess('race', 'r1', HOUR_MS),
      openProcess('turn', 't2', HOUR_MS),
    ];
    start();
    await settle();
    expect(seen.together).toEqual([['t1', 't2']]);
    expect(seen.alone).toEqual(['r1']);
  });

  it('visits all processes first, and later only those whose deadline passed without an action', async () => {
    const { clock, seen, openProcess, start } = sweeping();
    seen.open = [openProcess('turn', 'waits', HOUR_MS), openProcess('turn', 'lost', 30_000)];
    start();
    await settle();
    await clock.advance(SWEEP_MS);
    expect(seen.together).toEqual([['waits', 'lost'], ['lost']]);
  });

  it('starts over when those that run together could not be resumed', async () => {
    const { clock, seen, openProcess, start } = sweeping();
    seen.open = [openProcess('turn', 't', HOUR_MS), openProcess('race', 'r', HOUR_MS)];
    seen.togetherFails = true;
    start();
    await settle();
    expect(seen.alone).toEqual([]);
    seen.togetherFails = false;
    await clock.advance(RETRY_MS);
    expect(seen.together).toEqual([['t']]);
    expect(seen.alone).toEqual(['r']);
  });

  it('resumes at most eight at a time, with pauses between', async () => {
    const { clock, seen, openProcess, start } = sweeping();
    seen.open = Array.from({ length: 20 }, (_, at) => openProcess('race', String(at), HOUR_MS));
    start();
    await settle();
    expect(seen.alone).toHaveLength(8);
    await clock.advance(160);
    expect(seen.alone).toHaveLength(16);
    await clock.advance(160);
    expect(seen.alone).toHaveLength(20);
  });
});
