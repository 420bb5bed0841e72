import { describe, expect, it } from 'vitest';

import { makeProcessId } from '../../../src/kernel/crypto/process-id.js';
import { openTurns } from '../../../src/features/turns/open-turns.js';

describe('open turns', () => {
  const now = new Date('2026-05-01T10:00:00Z');
  const opened = (name: string, secondsAgo: number) => ({
    ...{ name, id: makeProcessId('t', 0, now.getTime() - secondsAgo * 1000, name + String(secondsAgo)) },
    ...{ stream: 'npc-local.mira', due: null },
  });
  const of = (...open: ReturnType<typeof opened>[]) => openTurns({ openProcesses: () => Promise.resolve(open) }, now);

  it('are counted, with the age of the oldest', async () => {
    expect(await of(opened('turn', 5), opened('turn', 90), opened('replay', 900))).toEqual({
      count: 2,
      oldestSeconds: 90,
    });
    expect(await of()).toEqual({ count: 0, oldestSeconds: 0 });
  });
});
