import { describe, expect, it } from 'vitest';

import { compareSessions } from '../../../src/features/ghosts/compare.js';
import type { Finding } from '../../../src/features/ghosts/domain/findings.js';
import type { GhostAnswer } from '../../../workflows/ghost-session.js';

type Over = Extract<GhostAnswer, { name: 'over' }>;
/** The members that a comparison reads. */
type Compared = Pick<Over, 'goal' | 'driver' | 'level'> & { readonly findings: readonly Finding[] };

const level = { levelId: 'inn', version: 1, digest: 'one', generated: false };
const session = ({ findings = [], ...of }: Partial<Compared> = {}): GhostAnswer =>
  ({
    ...{ name: 'over', goal: 'find_bugs', driver: 'builtin', level },
    ...{ report: { findings, metrics: [['steps', 3]] }, ...of },
  }) as unknown as GhostAnswer;
const found = (kind: string, subject: string): Finding => ({ kind, subject }) as unknown as Finding;

describe('two ghost sessions', () => {
  it('are comparable with the same goal, driver and level, in any version of the level [9.11b]', () => {
    expect(compareSessions(session(), session())).toMatchObject({ comparable: true });
    const later = { ...level, version: 2, digest: 'two' };
    expect(compareSessions(session(), session({ level: later }))).toMatchObject({ comparable: true });
  });

  it.each([
    ['another goal', { goal: 'complete_level' }],
    ['another level', { level: { ...level, levelId: 'mill' } }],
  ] as const)('are not comparable with %s [9.11b]', (_, of) => {
    expect(compareSessions(session(), session(of))).toMatchObject({ comparable: false });
    expect(compareSessions(session(of), session())).toMatchObject({ comparable: false });
  });

  it('are never comparable with different drivers, even on one level with one goal [9.6q]', () => {
    const remote = session({ driver: 'remote' });
    expect(compareSessions(session(), remote)).toMatchObject({ comparable: false });
    expect(compareSessions(remote, session())).toMatchObject({ comparable: false });
    expect(compareSessions(remote, remote)).toMatchObject({ comparable: true });
  });

  it('must both be over [9.11c]', () => {
    const playing = { ...session(), name: 'running' } as unknown as GhostAnswer;
    for (const [one, other] of [
      [session(), playing],
      [playing, session()],
    ] as const)
      // prettier-ignore
      expect(() => compareSessions(one, other)).toThrow(expect.objectContaining({ code: 'GHOST_RUNNING' }) as Error);
  });

  it('show what was added, what is gone and what both found, matched by kind and subject [9.11a]', () => {
    const before = [found('soft_lock', 'a'), found('dead_end', 'a'), found('dead_end', 'b')];
    const after = [found('dead_end', 'a'), found('soft_lock', 'b')];
    expect(compareSessions(session({ findings: before }), session({ findings: after }))).toMatchObject({
      added: [found('soft_lock', 'b')],
      gone: [found('soft_lock', 'a'), found('dead_end', 'b')],
      kept: [found('dead_end', 'a')],
      metrics: [['steps', 3, 3]],
    });
  });
});
