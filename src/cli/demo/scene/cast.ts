import type { CastMember, Character } from './types.js';
import { innRules, watchRules } from './rulesets.js';

/** The people in the inn that night. Each of the three uses a different kind of client. */
export const cast: Readonly<Record<Character, CastMember>> = {
  maren: {
    name: 'Maren',
    persona:
      'Maren Holt keeps the Drowned Lantern, as her mother did. She counts everything twice and forgives most things once.',
    data: {
      trade: 'innkeeper',
      hp: 12,
      coins: 40,
      inventory: ['brass key', 'stew', 'bread', 'lamp oil'],
    },
    rules: { ruleset: innRules },
    client: { mode: 'thin', tapes: 'returned' },
  },
  odo: {
    name: 'Odo',
    persona:
      'Sergeant Odo Brack of the ferry watch has read one book, the watch book, and lives in it. He sleeps like a mill.',
    data: {
      rank: 'sergeant',
      hp: 18,
      warrant: 'unsigned',
      inventory: ['halberd', 'shackles', 'watch book'],
    },
    rules: { ruleset: watchRules },
    client: { mode: 'fat', tapes: 'returned' },
  },
  wren: {
    name: 'Wren',
    persona:
      'Wren conjures small lights for coppers and opens small locks for nothing. She is nineteen and has never once been dry.',
    data: {
      trade: 'conjurer',
      hp: 9,
      mana: 1,
      inventory: ['lockpick'],
    },
    rules: { preset: 'rpg' },
    client: { mode: 'thin', tapes: 'own' },
  },
};
