/** Requests about character cards, and what a server answered, for the documentation. Long texts are cut. */

export const cardExamples = {
  card: {
    spec: 'chara_card_v2',
    spec_version: '2.0',
    data: {
      name: 'Tomas',
      description: '{{char}} is the miller. He sings when he lies.',
      personality: 'Loud and generous.',
      first_mes: 'Flour or news?',
      character_book: {
        extensions: {},
        entries: [
          {
            keys: ['debt'],
            content: 'Tomas owes the inn nine coins.',
            extensions: {},
            enabled: true,
            insertion_order: 10,
          },
        ],
      },
      extensions: {},
    },
  },
  imported: {
    npcId: 'tomas',
    created: true,
    name: 'Tomas',
    cardVersion: 2,
    persona: 'Tomas is the miller. He sings when he lies.\n\nPersonality: Loud and generous.',
    lore: {
      entries: 1,
      stored: 1,
      known: 0,
      left: 0,
      disabled: 0,
    },
    warnings: [],
  },
};
