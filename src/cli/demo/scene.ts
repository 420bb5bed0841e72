import { cast } from './scene/cast.js';
import { evening } from './scene/evening.js';
import { morning } from './scene/morning.js';
import { night } from './scene/night.js';
import type { Scene } from './scene/types.js';

export const scene: Scene = {
  title: 'A night at the Drowned Lantern',
  opening:
    'The river is over the ferry road, and the last dry bench in the valley is in the common room of the Drowned Lantern. You have a wet coat, eleven coppers and your mother’s silver locket. By morning you mean to have two of the three.',
  closing:
    'The ferry goes at nine. Halfway over, a small light is sitting on the chain; it knows the way home. You have a dry coat, eight coppers and your mother’s silver locket.',
  cast,
  acts: [evening, night, morning],
  guests: {
    title: 'Two guests',
    to: 'maren',
    teller: { id: 'guest-ann', name: 'Ann' },
    other: { id: 'guest-bob', name: 'Bob' },
    secret: 'I hid a purse of silver under the third barrel.',
    question: 'Where is the purse of silver hidden?',
  },
  asksWhy: { of: 'maren', says: 'My silver locket, please. I would rather have it in my hand tonight.' },
};
