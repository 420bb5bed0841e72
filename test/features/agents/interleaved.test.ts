import { describe, expect, it } from 'vitest';

import { createPushed, interleaved } from '../../../src/features/agents/interleaved.js';
import { gate } from '../../support/gate.js';
import { settle } from '../../support/settle.js';

const started = () => {
  const { opened, open } = gate();
  const turn = (async function* () {
    await opened;
    yield 'ended';
  })();
  const pushed = createPushed<number>();
  return { pushed, both: interleaved(turn, pushed), end: open };
};

describe('values that are pushed next to an iterator', () => {
  it('are yielded as they come, and end with the iterator', async () => {
    const { pushed, both, end } = started();
    const first = both.next();
    await settle(5);
    pushed.push([1, 2]);
    expect(await first).toEqual({ done: false, value: { others: [1, 2] } });
    end();
    expect(await both.next()).toEqual({ done: false, value: { one: 'ended' } });
    expect(await both.next()).toMatchObject({ done: true });
  });

  it('are still there to be taken when the iterator goes on before its reader has seen them [7.4a]', async () => {
    const { pushed, both, end } = started();
    pushed.push([1]);
    expect(await both.next()).toEqual({ done: false, value: { others: [1] } });
    for (const more of [2, 3]) {
      pushed.push([more]);
      await settle(5);
    }
    end();
    await settle(5);
    const seen = (await both.next()).value as { readonly one?: string; readonly others?: readonly number[] };
    expect([...(seen.others ?? []), ...pushed.taken()]).toEqual([2, 3]);
  });
});
