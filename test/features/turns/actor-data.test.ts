import { describe, expect, it } from 'vitest';

import { mindFold } from '../../../src/features/npcs/mind-fold.js';
import { DATA_BYTES } from '../../../src/features/npcs/domain/mind-data.js';
import type { TapeResult } from '../../../src/features/turns/domain/tape.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { openMinds, recalled, tapeOf, TENANT } from '../../support/minds.js';

const actorOf = (bytes: number) => ({
  npcId: 'mira',
  persona: 'An innkeeper.',
  data: { mood: 'furious', notes: 'x'.repeat(bytes - '{"mood":"furious","notes":""}'.length) },
});
const identified = (bytes: number): TapeResult => ({ type: 'IdentifyActorResult', actor: actorOf(bytes) });
const changing: TapeResult = { type: 'ExecuteInferenceResult', generatedOutput: '{"stateDelta": {"hp": 1}}' };

/** The data of a mind according to its stream. */
const dataOf = async (minds: Awaited<ReturnType<typeof openMinds>>) =>
  (await minds.deps.writers.current(npcStream(TENANT, 'mira'), mindFold)).state.data;

describe("an actor's data", () => {
  it('becomes the data of a mind without any, up to its bound [2.1g]', async () => {
    await using minds = await openMinds();
    await minds.step(tapeOf());
    await minds.step(tapeOf(), identified(DATA_BYTES));
    expect((await minds.events()).at(-1)?.data).not.toHaveProperty('actorDataKept');
    expect(await dataOf(minds)).toMatchObject({ mood: 'furious' });
  });

  it.each(['identified in a step', 'brought by the opening'])(
    'beyond the bound of a mind, %s, is used only in its turn [1.2z]',
    async (how) => {
      await using minds = await openMinds();
      const large = DATA_BYTES + 1;
      const opening = how === 'brought by the opening';
      await minds.step(tapeOf(opening ? { actor: actorOf(large) } : {}));
      if (!opening) await minds.step(tapeOf(), identified(large));
      const event = (await minds.events()).at(-1);
      expect(event).toMatchObject({ type: opening ? 'TurnOpened' : 'ActorIdentified', data: { actorDataKept: false } });
      expect(await dataOf(minds)).toBeNull();
      const { answer } = await minds.step(tapeOf(), recalled);
      expect(answer.instruction).toMatchObject({
        type: 'ExecuteInference',
        prompt: expect.stringContaining('furious'),
      });
      await minds.step(tapeOf(), changing);
      expect(await dataOf(minds)).toEqual({ hp: 1 });
    },
  );

  it('changes nothing in a mind with data [2.1g]', async () => {
    await using minds = await openMinds();
    await minds.step(tapeOf());
    await minds.step(tapeOf(), identified(100));
    await minds.step(tapeOf({ observation: 'Another day.' }));
    await minds.step(tapeOf({ observation: 'Another day.' }), identified(DATA_BYTES + 1));
    expect((await minds.events()).at(-1)?.data).not.toHaveProperty('actorDataKept');
  });
});
