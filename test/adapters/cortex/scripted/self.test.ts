import { describe } from 'vitest';

import { type Exchange, plays, type Who } from './exchange.js';

const berta: Who = { persona: 'Berta keeps the inn. She is afraid of the sea.' };
const ulf: Who = { persona: 'Ulf is a retired sailor. He has a wooden leg and a parrot named Biscuit.' };
const greta: Who = { persona: 'Greta has a dog named Rex.' };

/** Possible answers to somebody who wants to buy. */
const TRADE = /pay|worth|in it for me|what do I get|offer|arranged|see what I can do|I might|have none|have no\b/i;
const tomas: Who = {
  persona: 'You are Tomas Vey, a one-eyed blacksmith. You lost an eye, and you suspect your brother Olan.',
};

const smith: Who = { persona: 'Greta forges swords. She never talks about the price of her swords.' };
const proud: Who = { persona: 'Greta is proud, blunt and lost her brother in the mine.' };

const exchanges: readonly Exchange[] = [
  {
    name: 'what one never does',
    who: smith,
    said: 'What is the price of your swords?',
    must: [/I never talk about the price of my swords\./],
  },
  {
    name: 'a deed after what one is, in the words of the persona',
    who: proud,
    said: 'What happened to your brother in the mine?',
    must: [/"Greta is proud, blunt and lost her brother in the mine\."/],
    mustNot: [/I am proud/],
  },
  {
    name: 'a deed of somebody else after what one is',
    who: { persona: 'Greta is a widow whose husband drank and fell from the bridge.' },
    said: 'Are you a widow?',
    must: [/^I am a widow whose husband drank and fell from the bridge\.$/],
  },
  {
    name: 'what one carries, with articles',
    who: {
      persona: 'Greta forges swords.',
      state: { inventory: ['hammer', 'silver ring', 'bread', 'old axe', 'Excalibur', 'gloves'] },
    },
    said: 'What do you sell?',
    must: [/I have a hammer, a silver ring, bread, an old axe, Excalibur and gloves\./],
  },
  {
    name: 'what one carries, in German',
    who: { persona: 'Greta forges swords.', state: { inventory: ['hammer', 'silver ring', 'bread'] } },
    said: 'Was verkaufst du?',
    must: [/^Ich habe: hammer, silver ring und bread\.$/],
  },
  {
    name: 'lore without its key',
    who: smith,
    remembers: ['shadowfang: They are wolves of the north forest.'],
    said: 'What is a shadowfang?',
    must: [/[Tt]hey are wolves of the north forest\./],
    mustNot: [/shadowfang:/i],
  },

  { name: 'what one is afraid of', who: berta, said: 'What are you afraid of?', must: [/I am afraid of the sea\./] },
  ...[
    'What are you selling?',
    'Who are you waiting for?',
    'What are you doing here?',
    'Who are you in love with?',
    'What are you looking at?',
    'Who are you working for?',
  ].map((said): Exchange => ({ name: said, who: berta, said, must: [/./], mustNot: [/I am Berta|keep the inn/] })),
  {
    name: 'what one sells, by the persona',
    who: { persona: 'Berta keeps the inn. She sells lamp oil.' },
    said: 'What are you selling?',
    must: [/I sell lamp oil\./],
  },
  {
    name: 'what one is doing, by a memory',
    who: berta,
    remembers: ['Berta is waiting for the miller.'],
    said: 'Who are you waiting for?',
    must: [/I am waiting for the miller\./],
  },
  ...[
    'Who are you?',
    'Do you have a name?',
    'Who are you, stranger?',
    'Who are you really?',
    'Who are you, and what do you want?',
    'And what are you?',
    'What are you, then?',
  ].map((said): Exchange => ({ name: said, who: berta, said, must: [/keep the inn/] })),
  { name: 'a sailor with a parrot', who: ulf, said: 'Who are you?', must: [/I am Ulf\b/], mustNot: [/I am Biscuit/] },
  { name: 'a dog and its owner', who: greta, said: 'Who are you?', must: [/Greta/], mustNot: [/I am Rex/] },
  {
    name: 'the dog of one without a name',
    who: { persona: 'A shepherd with a dog named Rex.' },
    said: 'Who are you?',
    must: [/I am a shepherd/],
    mustNot: [/I am Rex/],
  },
  {
    name: 'a description that names',
    who: { persona: 'A cheerful baker named Tom. He loves rye.' },
    said: 'Who are you?',
    must: [/Tom/],
  },
  {
    name: 'a name that comes later',
    who: { persona: 'A dwarf who forges axes. She is called Brunna.' },
    said: 'Who are you?',
    must: [/Brunna/],
  },
  {
    name: 'a brother whom the persona names',
    who: tomas,
    said: 'Do you have a brother?',
    must: [/my brother Olan/],
    mustNot: [TRADE],
  },
  {
    name: 'a brother in a clause that cannot be turned',
    who: { persona: 'Tomas is a smith. Since the fire, nobody has seen his brother Olan.' },
    said: 'Have you got any siblings?',
    must: [/brother/, /Olan/],
    mustNot: [TRADE],
  },
  {
    name: 'a brother within a description',
    who: { persona: 'You are Tomas Vey, a blacksmith whose brother Olan vanished.' },
    said: 'Do you have a brother?',
    must: [/brother Olan/],
    mustNot: [TRADE],
  },
  {
    name: 'a family',
    who: { persona: 'Ilse guards the gate. Her two daughters live in the mill.' },
    said: 'Do you have a family?',
    must: [/daughters/],
    mustNot: [TRADE],
  },
  ...['Do you have a wife?', 'Do you have any children?', 'Have you a sister?', 'Do you have a son?'].map(
    (said): Exchange => ({
      name: said,
      who: tomas,
      said,
      must: [/affair|rather not|my own|to myself|to you\?/],
      mustNot: [TRADE, /Olan/],
    }),
  ),
  {
    name: 'the brother of another',
    who: tomas,
    remembers: ['A tall man crossed the bridge with my brother.'],
    said: 'Have you seen my brother?',
    must: [/crossed the bridge/],
    mustNot: [/Olan/],
  },
  {
    name: 'an animal that the persona names',
    who: greta,
    said: 'Do you have a dog?',
    must: [/I have a dog named Rex\./],
    mustNot: [TRADE],
  },
  {
    name: 'a ware is still a ware',
    who: { persona: 'Berta keeps the inn.', state: { inventory: ['lamp oil'] } },
    said: 'Do you have any lamp oil?',
    must: [/lamp oil/],
  },
  {
    name: 'one name, said once',
    who: tomas,
    said: 'Who are you?',
    must: [/^I am Tomas Vey, a one-eyed blacksmith\.$/],
  },
  {
    name: 'a persona in the second person, to its end',
    who: { persona: 'You are Ilse. You think the dead talk to you, but you would never say so.' },
    said: 'Do you think the dead talk?',
    must: [/I think the dead talk to me, but I would never say so\./],
  },
];

describe('how the scripted engine talks about itself', () => {
  plays(exchanges);
});
