import { describe, expect, it } from 'vitest';

import { sequencer } from '../../../src/adapters/eventstore/sequencer.js';
import { gate } from '../../support/gate.js';

describe('A sequencer', () => {
  it('runs tasks of one name one after the other, also behind one that fails', async () => {
    const { run } = sequencer();
    const first = gate();
    const said: string[] = [];
    const failing = run('a', async () => {
      said.push('first begins');
      await first.opened;
      said.push('first ends');
      throw new Error('no');
    });
    const second = run('a', async () => said.push('second'));
    expect(said).toEqual(['first begins']);
    first.open();
    await expect(failing).rejects.toThrow('no');
    await second;
    expect(said).toEqual(['first begins', 'first ends', 'second']);
  });

  it('does not hold up tasks of another name', async () => {
    const { run } = sequencer();
    const held = gate();
    const waiting = run('a', () => held.opened);
    expect(await run('b', async () => 'done')).toBe('done');
    held.open();
    await waiting;
  });

  it('forgets a name once nothing of it runs', async () => {
    const { run, idle } = sequencer();
    const held = gate();
    const waiting = run('a', () => held.opened);
    expect([idle('a'), idle('b')]).toEqual([false, true]);
    held.open();
    await waiting;
    expect(idle('a')).toBe(true);
  });
});
