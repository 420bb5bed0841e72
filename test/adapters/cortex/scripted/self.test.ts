import { describe } from 'vitest';

import { type Exchange, plays, type Who } from './exchange.js';

const berta: Who = { persona: 'Berta keeps the inn. She is afraid of the sea.' };
const ulf: Who = { persona: 'Ulf is a retired sailor. He has a wooden leg and a parrot named Biscuit.' };
const greta: Who = { persona: 'Greta has a dog named Rex.' };

const exchanges: readonly Exchange[] = [
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
];

describe('what the scripted engine says of itself', () => {
  plays(exchanges);
});
