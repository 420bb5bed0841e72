import { PassThrough, Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { showWhy } from '../../../src/cli/shared/show-why.js';

type Turn = { readonly turnId: string; readonly state: string };

/** What is written about an NPC with these turns, newest first. */
const shownOf = async (turns: readonly Turn[], more: object = {}) => {
  const [stdout, stderr] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })];
  const terminal = { env: {}, cwd: '/', stdin: Readable.from([]), stdout, stderr };
  const request = (_method: string, path: string) =>
    Promise.resolve(
      path.includes('/turns?')
        ? turns.filter(({ state }) => !path.includes('state=ended') || state === 'ended').slice(0, 1)
        : { turnId: path.split('/')[4] ?? '', npcId: 'mira', verdict: null, ...more },
    );
  await showWhy(terminal, request, { npcId: 'mira' });
  return { stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
};

const ended = { turnId: 't1', state: 'ended' };

describe('the explanation of the newest turn that has ended', () => {
  it('says that a newer turn failed, expired or is open', async () => {
    const { stdout, stderr } = await shownOf([{ turnId: 't2', state: 'failed' }, ended]);
    expect(stdout).toContain('t1 of mira');
    expect(stderr).toBe('The newest turn, t2, failed: "anima why mira t2" explains it.\n');
    expect((await shownOf([{ turnId: 't2', state: 'expired' }, ended])).stderr).toContain('t2, expired:');
    expect((await shownOf([{ turnId: 't2', state: 'awaitingActor' }, ended])).stderr).toContain('t2, is still open:');
    expect((await shownOf([ended])).stderr).toBe('');
  });

  it('warns of a turn that is not stored as it was recorded [10.13c]', async () => {
    expect((await shownOf([ended], { broken: true })).stderr).toBe(
      'What is stored of this turn is not what was recorded. "anima chain mira" and "anima audit mira" show more.\n',
    );
  });

  it('names the newest turn if none has ended', async () => {
    await expect(shownOf([{ turnId: 't2', state: 'failed' }])).rejects.toThrow(
      'No turn of mira has ended yet. The newest turn, t2, failed: "anima why mira t2" explains it.',
    );
    await expect(shownOf([])).rejects.toThrow(/^No turn of mira has ended yet\.$/);
  });
});
