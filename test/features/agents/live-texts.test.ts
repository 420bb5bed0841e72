import { describe, expect, it } from 'vitest';

import { listenTo } from '../../../src/features/agents/listening.js';
import { createLiveTexts } from '../../../src/features/agents/live-texts.js';
import type { Sentence } from '../../../src/features/agents/speech.js';
import { ManualClock } from '../../support/manual-clock.js';

const answer = (dialogue: string): string => `{"dialogue": "${dialogue}`;

describe('the text that an engine writes', () => {
  const listening = (turnId = 't1') => {
    const clock = new ManualClock();
    const live = createLiveTexts(clock);
    const hear = () => {
      const heard: (readonly Sentence[])[] = [];
      const listener = listenTo(live, 's');
      listener.begin(turnId, (sentences) => heard.push(sentences));
      return { heard, stop: () => listener.stop() };
    };
    return { clock, live, hear };
  };
  const texts = (sentences: readonly Sentence[] | undefined): readonly string[] =>
    (sentences ?? []).map(({ data }) => data.text);

  it('is read once for all who listen to its turn', () => {
    const { live, hear } = listening();
    const [one, other] = [hear(), hear()];
    live.writerFor('s', 't1')?.(answer('One. Two. Thr'));
    expect(texts(one.heard[0])).toEqual(['One. ', 'Two. ']);
    expect(other.heard[0]).toBe(one.heard[0]);
  });

  it('is heard from the beginning by those who come later, and by nobody who listens to another turn', async () => {
    const { clock, live, hear } = listening();
    const first = hear();
    const write = live.writerFor('s', 't1');
    write?.(answer('One. Tw'));
    await clock.advance(50);
    const second = hear();
    write?.(answer('One. Two. Thr'));
    expect(texts(second.heard[0])).toEqual(['One. ', 'Two. ']);
    live.writerFor('s', 't2')?.(answer('Four. Five. Si'));
    expect([first.heard.length, second.heard.length]).toEqual([2, 1]);
    for (const { stop } of [first, second]) stop();
    expect(live.writerFor('s', 't1')).toBeUndefined();
  });

  it('is read every 50 ms at most, and not beyond 16,384 characters [7.4c]', async () => {
    const { clock, live, hear } = listening();
    const { heard } = hear();
    const write = live.writerFor('s', 't1');
    write?.(answer('One. Tw'));
    await clock.advance(49);
    write?.(answer('One. Two. Thr'));
    expect(heard).toHaveLength(1);
    await clock.advance(1);
    write?.(answer('One. Two. Thr').padEnd(16_385));
    expect(heard).toHaveLength(1);
    write?.(answer('One. Two. Thr').padEnd(16_384));
    expect(heard).toHaveLength(2);
  });
});
