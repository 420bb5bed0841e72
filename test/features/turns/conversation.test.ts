import { describe, expect, it } from 'vitest';

import { conversationSoFar } from '../../../src/features/turns/conversation.js';
import type { JsonObject } from '../../../src/kernel/base/json.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import { openMinds, CONVERSATION, generated, identified, recalled, tapeOf, TENANT } from '../../support/minds.js';

const stream = npcStream(TENANT, 'mira');

/** Plays turns of a body, and counts the reads of what is made from them. */
const afterTurns = async (observations: readonly string[]) => {
  const minds = await openMinds();
  for (const observation of observations) {
    const { answer } = await minds.step(tapeOf({ observation }));
    const tape = tapeOf({ observation, turnId: answer.turnId });
    for (const result of [identified, recalled, generated]) await minds.step(tape, result);
  }
  const reads: number[] = [];
  const events: Pick<EventStore, 'read'> = {
    read: (name, range) => {
      reads.push(range.from ?? -1);
      return minds.store.read(name, range);
    },
  };
  const recent = await minds.deps.index.recent(stream);
  const soFar = (turns = recent, change: (data: JsonObject) => JsonObject = (data) => data) =>
    conversationSoFar(
      {
        conversation: CONVERSATION,
        events: {
          read: async (name, range) => {
            const page = await events.read(name, range);
            return { ...page, events: page.events.map((event) => ({ ...event, data: change(event.data) })) };
          },
        },
      },
      stream,
      turns,
      { player: undefined, nowMs: minds.clock.now().getTime() },
    );
  return { minds, recent, reads, soFar, [Symbol.asyncDispose]: () => minds[Symbol.asyncDispose]() };
};

describe('the conversation with a mind', () => {
  it('is read from its turns, oldest first [13.4a]', async () => {
    await using after = await afterTurns(['One?', 'Two?', 'Three?']);
    const conversation = await after.soFar();
    expect(conversation.map(({ heard }) => heard)).toEqual(['One?', 'Two?', 'Three?']);
    expect(conversation[0]?.answered).toMatchObject({ dialogue: 'Three coins, in advance.' });
    expect(after.reads).toHaveLength(6);
  });

  it('is read from the last turn alone, if that has recorded the turns before it [13.4d]', async () => {
    await using after = await afterTurns(['One?', 'Two?', 'Three?']);
    const before = (await after.soFar()).slice(0, 2);
    after.reads.length = 0;
    const again = await after.soFar(after.recent, (data) =>
      data['observation'] === 'Three?' ? { ...data, conversation: before } : data,
    );
    expect(again.map(({ heard }) => heard)).toEqual(['One?', 'Two?', 'Three?']);
    expect(after.reads).toHaveLength(2);
  });

  it('is with one player, in the turns of bodies that name one [13.4c]', async () => {
    await using minds = await openMinds();
    const ana = { id: 'ana', from: 'body' } as const;
    const play = async (observation: string, player?: typeof ana | { id: string; from: 'body' }) => {
      const command = player === undefined ? {} : { player };
      const { answer } = await minds.step(tapeOf({ observation }), null, command);
      const tape = tapeOf({ observation, turnId: answer.turnId });
      await minds.step(tape, identified, command);
      const { tape: asked } = (await minds.step(tape, recalled, command)).answer;
      await minds.step(tape, generated, command);
      return asked['prompt'] as string;
    };
    await play('One?', ana);
    await play('Two?', { id: 'bo', from: 'body' });
    expect(await play('Three?')).not.toContain('What was said before');
    const prompt = await play('Four?', ana);
    expect(prompt).toContain('- You heard: "One?"\n- You answered: {"dialogue":"Three coins, in advance."');
    expect(prompt).not.toMatch(/Two\?|Three\?/);
    const opened = (await minds.events()).filter(({ type }) => type === 'TurnOpened').map(({ data }) => data);
    expect(opened.map(({ conversation }) => conversation)).toEqual([
      ...[[], [], undefined],
      [expect.objectContaining({ heard: 'One?' })],
    ]);
  });

  it('leaves out turns without a verdict [13.4a]', async () => {
    await using after = await afterTurns(['One?']);
    await after.minds.step(tapeOf({ observation: 'Two?' }));
    const recent = await after.minds.deps.index.recent(stream);
    expect(recent).toHaveLength(2);
    expect((await after.soFar(recent)).map(({ heard }) => heard)).toEqual(['One?']);
  });
});
