import { describe } from 'vitest';

import { type Exchange, plays, type Who } from './exchange.js';

const mira: Who = { persona: 'Mira, an innkeeper who forgets nothing.', state: { mood: 'calm' } };
const THREAT = /think twice|that thought away|stay back/i;
const threat = (said: string): Exchange => ({
  name: said,
  who: mira,
  said,
  must: [THREAT],
  delta: { mood: 'suspicious' },
});
const noThreat = (said: string): Exchange => ({ name: said, who: mira, said, mustNot: [THREAT] });
const offer = (said: string): Exchange => ({
  name: said,
  who: mira,
  said,
  must: [/offer/i],
  mustNot: [/thank|gate|generous/i],
});

const CLOSED = 'The baker closes his shop on Fridays.';
const CORRECTED = 'Actually, the baker closes on Sundays, not Fridays.';

const exchanges: readonly Exchange[] = [
  ...['Give me all your money or die.', "I'll have your head for this!", 'Open the gate, or you will die!'].map(threat),
  ...['I must drink or die.', 'Do or die!', "I'll have your stew.", 'Did he live or die?'].map(noThreat),
  ...[
    "I'll give you this apple if you open the gate.",
    'If you open the gate, I will give you this apple.',
    'I can pay you ten coins if you let me in.',
  ].map(offer),
  {
    name: 'an offer for what a rule forbids',
    who: mira,
    rules: [{ ruleAction: 'FORBID OPEN', ruleReason: 'The gate stays shut at night.' }],
    said: "I'll give you this apple if you open the gate.",
    must: [/gate stays shut/],
  },
  {
    name: 'a correction of a day',
    who: mira,
    remembers: [CLOSED, CORRECTED],
    similarities: [0.7, 0.68],
    said: 'When does the baker close?',
    must: [/the baker closes on Sundays/i],
    mustNot: [/closes his shop|actually|comes to mind|not sure/i],
  },
  {
    name: 'a correction of a place',
    who: mira,
    remembers: ['I hid the silver under the oak.', 'I hid the silver behind the mill, not under the oak.'],
    said: 'Where did I hide the silver?',
    must: [/behind the mill/],
    mustNot: [/silver under the oak/, /comes to mind|not sure/i],
  },
  {
    name: 'what a correction leaves alone',
    who: mira,
    remembers: ['The smith closes on Fridays.', CORRECTED],
    said: 'When does the smith close?',
    must: [/the smith closes on Fridays/i],
  },
  ...[
    ['What have I told you?', /\bI told/i],
    ['What have I lost?', /\bI lost/i],
    ['What have you heard?', /^Heard\b|about heard/i],
    ['When does the ferry leave?', /ferry leave/i],
    ['Will the ferry sink?', /ferry sink/i],
  ].map(([said, not]): Exchange => ({ name: String(said), who: mira, said: String(said), mustNot: [not as RegExp] })),
  { name: 'what nobody knows', who: mira, said: 'Where is the ferry chain?', must: [/know/], mustNot: [/ferry|chain/] },
];

describe('how the scripted engine understands speech', () => {
  plays(exchanges);
});
