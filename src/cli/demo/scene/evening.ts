import type { SceneAct } from './types.js';

const at = (hour: number) => ({ hour, place: 'common room', alarm: 'quiet' });

/** A guest arrives, meets three people, and leaves a locket behind the bar. */
export const evening: SceneAct = {
  title: 'Evening',
  lines: [
    {
      to: 'maren',
      says: 'Good evening. Is there a bed left, or has the river taken those too?',
      context: at(20),
      model:
        'One bed, one blanket, and a window that shuts if you hit it. Three coppers, and you hang that coat by the door, not by my fire.',
    },
    {
      to: 'maren',
      says: 'Three coppers, then. And a bowl of something hot, if the kitchen is kind.',
      context: at(20),
      model: JSON.stringify({
        dialogue: 'The kitchen is me, and I am not. But there is stew.',
        action: { type: 'GIVE', target: 'traveller', reason: 'A paid guest eats.', payload: { item: 'stew' } },
        stateDelta: { coins: 43, inventory: ['brass key', 'bread', 'lamp oil'] },
      }),
    },
    {
      to: 'maren',
      says: 'Who else is under this roof tonight?',
      context: at(20),
      model: `Maren looks over the room before she answers, the way one counts sheep.

\`\`\`json
{"dialogue": "A sergeant who will outlast the firewood, and a girl who makes lights. She paid in advance, which I have never liked in a girl that thin.", "action": {"type": "SPEAK", "target": "traveller"}}
\`\`\`

I hope that is what was asked for.`,
    },
    {
      to: 'odo',
      says: 'May I sit, sergeant? All of the fire seems to be on your side.',
      context: at(20),
      model: 'Sit. Public bench. Paragraph nine. Mind the halberd, it is in love with ankles.',
    },
    {
      to: 'odo',
      says: 'What does the ferry watch do when there is no ferry?',
      context: at(20),
      model: JSON.stringify({
        dialogue: 'It watches where the ferry was. Somebody has to be able to say, afterwards, that nothing was seen.',
        memories: [{ text: 'A traveller asked what the watch does in a flood.', type: 'observation', importance: 0.3 }],
      }),
    },
    {
      to: 'wren',
      says: 'You are the only one in here who is not dripping. How did you manage that?',
      context: at(21),
      model:
        "{dialogue: 'I asked the rain very nicely. You could try. You have a face that rain would listen to.', action: {type: 'SPEAK', target: 'traveller',},",
    },
    {
      to: 'wren',
      says: 'They say you make lights. Show me one.',
      context: at(21),
      model: JSON.stringify({
        dialogue:
          'Watch my left hand. No, everyone watches the left hand. There: a foxlight. It knows the way home, which is more than I do.',
        action: { type: 'CAST', target: 'foxlight', confidence: 0.9 },
        stateDelta: { audience: 'traveller' },
      }),
    },
    {
      to: 'wren',
      says: 'Again! Once more, for the table by the door.',
      context: at(21),
      npcState: { mana: 0 },
      model: JSON.stringify({
        dialogue: 'For the gentlemen by the door, then: two foxlights, and a small moon.',
        action: { type: 'CAST', target: 'small moon' },
      }),
      refused: { code: 'MANA_INSUFFICIENT', because: 'she spent her only spark on the first light' },
    },
    {
      to: 'wren',
      says: 'No matter. One light is more than the rest of us made today.',
      context: at(21),
      model:
        'That is the kindest thing anyone has said to me with a purse open on the table. Put it away, would you? It hurts to look at.',
    },
    {
      to: 'maren',
      says: 'Maren, would you keep my silver locket behind the bar until morning? It was my mother’s.',
      context: at(21),
      model: JSON.stringify({
        dialogue: 'In the box under the taps, with my own mother’s ring. Nobody opens that box but me.',
        action: { type: 'TAKE', target: 'silver locket', reason: 'Kept for the guest until morning.' },
        stateDelta: { keeps: { traveller: 'silver locket' } },
        memoryStore: [
          {
            text: 'The traveller left a silver locket with me; it was their mother’s.',
            type: 'knowledge',
            importance: 0.9,
          },
        ],
      }),
    },
    {
      to: 'odo',
      says: 'Sergeant, I heard the ferry chain just now. Will you look at it?',
      context: at(21),
      model: `Very well. {"dialogue": "Chains ring when the river is bored. But the book says: look.", "action": {gaType: "MOVE", "actionTarget": "yard",}, "stateDelta": {"boots": "wet"}} There, that is my answer.`,
    },
    {
      to: 'maren',
      says: 'One piece of bread to take up with me? I would eat it quietly.',
      context: at(22),
      model: JSON.stringify({
        dialogue: 'Oh, here. Before I see the clock.',
        action: { type: 'GIVE', target: 'traveller', payload: { item: 'bread' } },
      }),
      refused: {
        code: 'RULE_REFUSED',
        rule: 'kitchen-closed',
        because: 'she has the bread, but the clock has struck ten',
      },
    },
    {
      to: 'maren',
      says: 'The clock is right, as ever. Good night, Maren.',
      context: at(22),
      model: 'Good night. If the window bangs, hit it again.',
    },
  ],
};
