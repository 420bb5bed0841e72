import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { answer, type Exchange, inputOf, plays, type Who } from './exchange.js';

const hob: Who = { persona: 'Hob, a ferryman.' };
/** Said before a memory that need not be what was asked for. */
const HEDGE = /comes to mind|not sure/i;
const sure = (name: string, said: string, memory: string, similarity: number, must: RegExp): Exchange => ({
  name,
  who: hob,
  remembers: [memory],
  similarities: [similarity],
  said,
  must: [must],
  mustNot: [HEDGE],
});
const unsure = (name: string, said: string, memory: string, similarity: number): Exchange => ({
  name,
  who: hob,
  remembers: [memory],
  similarities: [similarity],
  said,
  must: [/comes to mind|not sure|know nothing|could not say|do not know/i],
});

const SILVER = 'I hid a bag of silver under the old well.';
const BLACK_KEY = 'The black key opens the cellar.';
const THUNDER = 'My horse is called Thunder and it is black.';

const exchanges: readonly Exchange[] = [
  sure('a topic shared, and similar', 'Where did I put my money?', SILVER, 0.58, /you hid a bag of silver/i),
  sure('words alike for hiding', 'Where did I stash my cash?', SILVER, 0.56, /you hid a bag of silver/i),
  sure('other words, very similar', 'What food do I dislike?', 'I hate fish.', 0.66, /you hate fish/i),
  sure('the noun that is asked about', 'What is the name of my horse?', THUNDER, 0.8, /Thunder/),
  sure('what only one of two is asked for', 'What does the black key open?', BLACK_KEY, 0.8, /cellar/),
  sure(
    'a noun of kin, in general',
    'Was any relative hanged?',
    'My brother was hanged.',
    0.7,
    /your brother was hanged/i,
  ),
  sure('a place to look for it', 'Where can I find the silver?', SILVER, 0.7, /under the old well/),
  sure('other people', 'Do other people know where the silver is?', SILVER, 0.6, /under the old well/),
  sure('words alike for falling', 'When did the bridge fall?', 'The bridge collapsed in spring.', 0.75, /in spring/),
  sure('words alike for breaking', 'Who broke the window?', 'Tom smashed the window.', 0.8, /Tom/),
  sure('words alike for dying', 'Is it true that the king is dead?', 'The king died at dawn.', 0.8, /at dawn/),
  sure('by the way, a friend', 'Where is the silver, my friend?', SILVER, 0.7, /under the old well/),
  sure(
    'what was said before the question',
    'My cow is sick. Where does the healer live?',
    'The healer lives by the mill.',
    0.6,
    /by the mill/,
  ),
  {
    name: 'a mine that is nobody’s, and not in the words of who asks',
    who: hob,
    remembers: ['Emberfell: The mine collapsed in the year of the comet.'],
    similarities: [0.7],
    said: 'When did Emberfell fall?',
    must: [/the mine collapsed/i],
    mustNot: [/yours/, /your own|you told me|you said|I was listening/i],
  },
  {
    name: 'a memory less similar than needed',
    who: hob,
    remembers: ['A fox took two hens.'],
    similarities: [0.53],
    said: 'Should I dive into the lake?',
    mustNot: [/fox/],
  },
  {
    name: 'hedged, at the lower bound',
    who: hob,
    remembers: ['Please meet me at midnight.', 'I cannot swim.'],
    similarities: [0.5, 0.55],
    said: 'Should I dive into the lake?',
    must: [HEDGE, /you cannot swim/i],
  },
  {
    name: 'nothing that one said of himself for what the other is asked',
    who: hob,
    remembers: ['I come from a village called Lower Fenwick.'],
    similarities: [0.57],
    said: 'Where do you live?',
    mustNot: [/Fenwick/],
  },
  unsure('the name of another animal', 'What is the name of my dog?', THUNDER, 0.64),
  unsure('another animal that is called', 'What is your cat called?', 'My horse is called Ash.', 0.61),
  unsure('a key of another colour', 'What does the white key open?', BLACK_KEY, 0.73),
  unsure('another deed', 'Who stole the black key?', BLACK_KEY, 0.72),
  unsure('another thing that was stolen', 'Who stole my cow?', 'Somebody stole my horse last night.', 0.74),
  unsure('another of the family', 'Was my sister hanged?', 'My brother was hanged for a crime.', 0.77),
  unsure('another thing about the same one', 'How much does the baker charge?', 'The baker closes on Fridays.', 0.6),
  unsure('the name of one who is not named', "What is my brother's name?", 'My brother was hanged.', 0.61),
  unsure('somebody else', 'Where did Odette hide the silver?', SILVER, 0.7),
];

const README = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');

describe('recalled memories', () => {
  plays(exchanges);

  it('gives the answer that the README shows in its first conversation', async () => {
    const [, talk = ''] = /```console\n\$ npx anima talk mira\n([^]*?)```/.exec(README) ?? [];
    const said = [...talk.matchAll(/^> (?!\/)(.+)$/gm)].map(([, text = '']) => text);
    const [silver = '', question = ''] = said;
    const shown = talk.trim().split('\n').at(-2)?.replace('mira: … ', '') ?? 'nothing';
    const exchange: Exchange = {
      name: '',
      who: { persona: null },
      remembers: [silver],
      said: question,
    };
    const { dialogue } = await answer(inputOf(exchange, 'Raw'), [0.575]);
    expect(dialogue).toContain(shown);
    expect(dialogue).not.toMatch(HEDGE);
  });
});
