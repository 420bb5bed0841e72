import type { DirectiveRequest, StepRequest, StepResult, Tape } from '../src/body/protocol.js';

/** The texts of all measurements, as long as those of a game. */

const context = { place: 'The Salted Eel, common room', hour: 21, weather: 'rain', present: ['Mira', 'Tomas'] };
const npcState = { mood: 'wary', hp: 20, gold: 31, inventory: ['room key', 'ledger', 'bread knife'] };

const observations = [
  'A stranger in a wet cloak enters the inn and asks for a room for three nights, paid in advance.',
  'The stranger puts a silver ring on the counter and asks whether it would do instead of coins.',
  'A guard looks in from the street and asks who came through the north gate after sunset.',
  'Tomas whispers that he has seen this cloak before, on the night when the mill burned down.',
] as const;

/** How many different observations a mind has before they repeat. */
export const OBSERVATIONS = observations.length;

/** The observation at a moment, counted from 0. */
const observationAt = (moment: number): string => observations[moment % observations.length] ?? observations[0];

/** The path of a mind's route. */
export const pathOf = (mind: number, route: 'directive' | 'process'): string => `/npcs/inn-${mind}/${route}`;

/** The body of a one-event request. */
export const directiveAt = (moment: number): DirectiveRequest => ({
  observation: observationAt(moment),
  npcState,
  context,
});

/** The results of a body in the three rounds of a turn. */
export const resultsOf = (mind: number): readonly [StepResult, StepResult, StepResult] => [
  {
    type: 'IdentifyActorResult',
    actor: {
      npcId: `inn-${mind}`,
      persona: 'Mira, who has kept the inn for twenty years: tired, fair, hard to fool.',
      data: npcState,
    },
  },
  {
    type: 'QueryVectorResult',
    memories: [
      {
        text: 'The last guest who paid with a ring was gone before breakfast, and the ring was tin.',
        type: 'experience',
        importance: 0.8,
        similarity: 0.83,
      },
      {
        text: 'The watch pays three coins for word of anybody who comes after sunset.',
        type: 'knowledge',
        importance: 0.5,
        similarity: 0.61,
      },
    ],
  },
  {
    type: 'ExecuteInferenceResult',
    generatedOutput: JSON.stringify({
      dialogue: 'Three nights are nine coins, in advance, and the ring stays on your finger.',
      action: { type: 'INTERACT', target: 'ledger', reason: 'write the guest down' },
      stateDelta: { mood: 'firm', guests: 4 },
      memoryStore: [
        { text: 'A stranger in a wet cloak offered a ring for a room.', type: 'observation', importance: 0.6 },
      ],
    }),
  },
];

/** The tape that opens a turn. */
export const tapeAt = (moment: number): Tape => ({ observation: observationAt(moment), context, npcState });

/** The four requests of a turn from a thin client that forgets what the mind returned: each with the first tape and no turn id. */
export const turnAt = (mind: number, moment: number): readonly StepRequest[] => {
  const tape = tapeAt(moment);
  return [{ tape }, ...resultsOf(mind).map((lastResult) => ({ tape, lastResult }))];
};
