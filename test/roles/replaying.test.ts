import { describe, expect, it } from 'vitest';

import { noFindings } from '../../src/features/replays/domain/findings.js';
import { ThreadEnded } from '../../src/features/replays/replay-part.js';
import { openReplayThreads } from '../../src/roles/replaying.js';
import { systemClock } from '../../src/adapters/system/clock.js';

describe('a thread that replays decisions', () => {
  it('tells the mind that ended it from every other failure [10.3v]', async () => {
    const reasons: object[] = [];
    const log = { error: (fields: object) => void reasons.push(fields) };
    const source = { kind: 'file', file: '/nonexistent/events.db' } as const;
    await using threads = openReplayThreads(source, 1, { clock: systemClock, log });
    const task = { replayId: 'r', tenant: 'studio', upTo: 1 };
    const [hand] = threads.begin({ task, known: noFindings, ms: 1 });
    const { signal } = new AbortController();
    await expect(hand?.part({ npcId: 'mira', next: 0 }, signal)).rejects.toBeInstanceOf(ThreadEnded);
    expect(reasons).toHaveLength(1);
    const later = hand?.part({ npcId: 'odo', next: 0 }, signal);
    await expect(later).rejects.toMatchObject({ code: 'BUSY' });
    await expect(later).rejects.not.toBeInstanceOf(ThreadEnded);
  });
});
