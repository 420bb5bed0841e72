import type { SceneAct } from './types.js';

const at = (hour: number) => ({
  hour,
  place: 'common room',
  alarm: 'quiet',
  worldState: { entities: ['traveller', 'Maren', 'Odo', 'Wren', 'ferryman'] },
});

/** The water falls, and so does a verdict or two. */
export const morning: SceneAct = {
  title: 'Morning',
  lines: [
    {
      to: 'wren',
      says: 'Why mine? There was gold in that box, and fatter purses by the fire.',
      context: at(6),
      model:
        'Gold is only gold. You said it was your mother’s, and you said it the way people talk about somebody who came back for them. I wanted to hold one of those. I meant to put it back. I always mean to put it back.',
    },
    {
      to: 'wren',
      says: 'It opens, you know. Did you look inside the locket?',
      context: at(6),
      model: JSON.stringify({
        dialogue: 'A curl of hair, and no picture. I closed it again. That part was not mine to take.',
        stateDelta: { confessed: true },
        memoryStore: [
          {
            text: 'I told the traveller that I opened the silver locket and closed it again.',
            type: 'emotion',
            importance: 0.8,
          },
        ],
      }),
    },
    {
      to: 'wren',
      says: 'Then give me the locket yourself. Not the sergeant: you.',
      context: at(6),
      npcState: { inventory: ['lockpick', 'silver locket'] },
      model: `She turns round, slowly, so that the sergeant need not hurry.
{"dialogue": "Here. It is warm. I am sorry that it is warm.", "action": {"type": "GIVE", "target": "traveller", "payload": {"item": "silver locket"}}}`,
    },
    {
      to: 'odo',
      says: 'Sergeant, the owner has the locket and wants nobody hanged.',
      context: at(7),
      model: JSON.stringify({
        dialogue:
          'Hanged! The book has nothing heavier than ferry duty. She hauls the chain till spring, and she is fed.',
        stateDelta: { prisoner: null, sentence: 'ferry duty till spring' },
      }),
    },
    {
      to: 'odo',
      says: 'And what will you write down about last night?',
      context: at(7),
      model:
        'That a silver locket was lost at two and found at six, and that the watch held the door. All of it true. That is how one writes it.',
    },
    {
      to: 'maren',
      says: 'Good morning, Maren. May a guest eat, or is there a warrant for that too?',
      context: at(7),
      model: JSON.stringify({
        dialogue: 'It is past six, so the bread is lawful. Take it. You carried my lamp.',
        action: { type: 'GIVE', target: 'traveller', payload: { item: 'bread' } },
      }),
    },
    {
      to: 'maren',
      says: 'The ferryman is at the door, and he is laughing at the girl.',
      context: at(7),
      model: JSON.stringify({
        dialogue: 'Is he. Hand me the poker.',
        action: { type: 'ATTACK', target: 'ferryman', reason: 'He laughed.' },
      }),
      refused: { code: 'RULE_REFUSED', rule: 'no-blood', because: 'her mother’s law applies to her as well' },
    },
    {
      to: 'maren',
      says: 'Put the poker down. You told me yourself how this house is kept.',
      context: at(7),
      model: 'I did. Hm. Then he can pay for his breakfast instead, which in his case is worse.',
    },
    {
      to: 'wren',
      says: 'I asked you how you were the only one in here not dripping. You never said how.',
      context: at(8),
      model: JSON.stringify({
        dialogue:
          'I came in before the rain. I had been sitting in the dark under your window since noon, waiting for somebody to have something.',
        action: { type: 'SPEAK', target: 'traveller' },
      }),
    },
    {
      to: 'wren',
      says: 'The ferry runs at nine. What will you do with a whole river?',
      context: at(8),
      model:
        "Haul it from one side to the other, it seems. {'dialogue': 'Learn to swim. Make a light for the chain, so that the boats can find it. Two, when I have the breath.', 'action': {'type': 'SPEAK', 'target': 'traveller'}}",
    },
    {
      to: 'odo',
      says: 'Be good to her, sergeant. Paragraph nine.',
      context: at(8),
      model: JSON.stringify({
        dialogue: 'Paragraph nine is the bench. But I take your meaning, and I shall write it in.',
        action: { type: 'INTERACT', target: 'watch book' },
        stateDelta: { wroteDown: 'Be good to her.' },
      }),
    },
    {
      to: 'maren',
      says: 'What do I owe you for the night, Maren?',
      context: at(9),
      model: JSON.stringify({
        dialogue:
          'Three coppers, and you paid them. For the rest I owe you. Come back when the river is where it belongs.',
        stateDelta: { owes: { traveller: 'a dry night' } },
        memoryStore: [
          {
            text: 'I lost a guest’s silver locket, and the guest got it back without blood.',
            type: 'experience',
            importance: 0.9,
          },
        ],
      }),
    },
  ],
};
