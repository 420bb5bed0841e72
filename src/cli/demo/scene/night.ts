import type { SceneAct } from './types.js';

const ROOM = ['traveller', 'Maren', 'Odo', 'Wren'];
const at = (hour: number, alarm: 'quiet' | 'raised' = 'quiet') => ({
  hour,
  place: 'common room',
  alarm,
  worldState: { entities: ROOM, bounds: { minX: 0, minY: 0, maxX: 20, maxY: 12 } },
});

/** More bottles than any cellar holds, as a model writes when it is asked to count. */
const cellar = Object.fromEntries(
  Array.from({ length: 80 }, (_, shelf) => [`shelf ${String(shelf + 1)}`, 'one bottle, dusty']),
);

/** The locket is gone; a bell, a door, a cellar and a piece of paper stand between the guest and the thief. */
export const night: SceneAct = {
  title: 'Night',
  lines: [
    {
      to: 'odo',
      says: 'Sergeant! Sergeant, there is somebody on the stairs!',
      context: at(2),
      npcState: { asleep: true },
      model: 'Stand! In the name of the ferry! … No. No, that was the mill.',
      refused: { code: 'RULE_REFUSED', rule: 'asleep', because: 'he is asleep, and only talking in a dream' },
    },
    {
      to: 'maren',
      says: 'Maren, wake up. My window is open, and I did hit it.',
      context: at(2),
      model: JSON.stringify({
        dialogue: 'I am awake. Nobody who owns a cellar is ever asleep. Hold this lamp.',
        action: { type: 'USE', target: 'lamp', payload: { item: 'lamp oil' } },
        stateDelta: { lamp: 'lit' },
      }),
    },
    {
      to: 'maren',
      says: 'My silver locket, please. I would rather have it in my hand tonight.',
      context: at(2),
      npcState: { inventory: ['brass key', 'bread', 'lamp oil'] },
      model: JSON.stringify({
        dialogue: 'Of course. Here, just as you left it with me.',
        action: { type: 'GIVE', target: 'traveller', payload: { item: 'silver locket' } },
      }),
      refused: {
        code: 'ITEM_NOT_IN_INVENTORY',
        because: 'the box under the taps is empty: the mind did not know, but the game did',
      },
    },
    {
      to: 'maren',
      says: 'The box is empty. Who knew that the silver locket was in it?',
      context: at(2),
      npcState: { inventory: ['brass key', 'bread', 'lamp oil'] },
      model: JSON.stringify({
        dialogue:
          'You. Me. And everyone who was not looking at the foxlight, which is nobody; and the one who made it.',
        stateDelta: { inventory: ['brass key', 'bread', 'lamp oil'], keeps: null, suspects: 'Wren' },
        memoryStore: [
          { text: 'The silver locket was stolen from the box between ten and two.', type: 'knowledge', importance: 1 },
        ],
      }),
    },
    {
      to: 'maren',
      says: 'Then ring the bell, and let us have everyone down here.',
      context: at(2),
      model:
        '{"dialogue": "Cover your ears. My mother bought it off a lighthouse.", "action": {"type": "INTERACT", "target": "bell"',
    },
    {
      to: 'odo',
      says: 'It was the girl with the lights, sergeant. Seize her!',
      context: at(2, 'raised'),
      model: JSON.stringify({
        dialogue: 'Right! You there! Hands where the law can see them!',
        action: { type: 'ARREST', target: 'Wren' },
      }),
      refused: {
        code: 'RULE_REFUSED',
        rule: 'hold-the-door',
        because: 'the bell is ringing, and his orders are to hold the door',
      },
    },
    {
      to: 'odo',
      says: 'Then what does the book want you to do?',
      context: at(2, 'raised'),
      model: `The sergeant thinks, visibly. {"dialogue": "Door. When the bell goes, the watch holds the door. Nobody leaves wetter than he came.", "action": {"type": "BLOCK", "target": "front door"}, "stateDelta": {"post": "front door"}}`,
    },
    {
      to: 'wren',
      says: 'Wren, come down from the landing. He has the door.',
      context: at(2),
      model: JSON.stringify({
        dialogue: 'He has one of the doors.',
        action: { type: 'MOVE', payload: { x: 27, y: -4 }, reason: 'Over the roof.' },
      }),
      refused: { code: 'OUT_OF_BOUNDS', because: 'the roof ends where the flood begins' },
    },
    {
      to: 'wren',
      says: 'There is nothing out there but the river. Come to the fire.',
      context: at(2),
      model: JSON.stringify({
        dialogue: 'It is a very large nothing. All right. The fire.',
        action: { type: 'MOVE', target: 'fire', payload: { x: 10, y: 6 } },
        stateDelta: { place: 'fire' },
      }),
    },
    {
      to: 'maren',
      says: 'Maren, count the cellar. I want to know what else is gone.',
      context: at(2),
      model: JSON.stringify({
        dialogue: 'Shelf one, one bottle. Shelf two, one bottle. Shelf three …',
        stateDelta: cellar,
      }),
      refused: { code: 'STATE_CHANGE_INVALID', because: 'eighty shelves are more than one state change may hold' },
    },
    {
      to: 'maren',
      says: 'Not every bottle. Only tell me what is missing.',
      context: at(2),
      model: 'Your locket. Nothing else. Whoever it was left my mother’s ring lying there, and the ring is gold.',
    },
    {
      to: 'odo',
      says: 'She took one thing and left the gold, sergeant. Arrest her for the one thing.',
      context: at(3),
      model: JSON.stringify({
        dialogue: 'Gladly. Wrists, miss.',
        action: { type: 'ARREST', target: 'Wren', payload: { item: 'shackles' } },
      }),
      refused: {
        code: 'RULE_REFUSED',
        rule: 'no-warrant',
        because: 'the bell is quiet, but nobody has signed a warrant',
      },
    },
    {
      to: 'maren',
      says: 'You hold the licence of this house. Can you sign a warrant?',
      context: at(3),
      model: `{
  "dialogue": "I can sign for beer, for births and for warrants. It is the same pen.",
  "action": {"type": "INTERACT", "target": "warrant"},
  "stateDelta": {"signed": ["warrant"],},
}`,
    },
    {
      to: 'odo',
      says: 'There you are: signed by the keeper of the house, ink still wet.',
      context: at(3),
      model: JSON.stringify({
        dialogue: 'That is a signature. I have seen worse ones on marriages.',
        action: { type: 'INTERACT', target: 'warrant' },
        stateDelta: { warrant: 'signed' },
      }),
    },
    {
      to: 'odo',
      says: 'And the ferryman? Somebody unhooked that chain for her.',
      context: at(3),
      model: JSON.stringify({
        dialogue: 'The ferryman! I knew it! Have at you, villain!',
        action: { type: 'ATTACK', target: 'ferryman' },
      }),
      refused: { code: 'TARGET_NOT_FOUND', because: 'the ferryman is at home, on the far side of the river' },
    },
    {
      to: 'odo',
      says: 'He is not here, sergeant. She is.',
      context: at(3),
      model: JSON.stringify({
        dialogue: 'Quite. Wren of no fixed roof, I take you on the keeper’s warrant. It says please, so: please.',
        action: { type: 'ARREST', target: 'Wren' },
        stateDelta: { prisoner: 'Wren' },
        memoryStore: [{ text: 'I arrested Wren for the silver locket.', type: 'experience', importance: 0.9 }],
      }),
    },
    {
      to: 'wren',
      says: 'He is looking for his key. Do not even think of the window.',
      context: { ...at(3), constraints: { forbiddenActions: ['MOVE'] } },
      model: JSON.stringify({
        dialogue: 'I was not thinking. I was already halfway.',
        action: { type: 'MOVE', target: 'window' },
      }),
      refused: { code: 'ACTION_FORBIDDEN', because: 'she is in shackles, and the game forbids her to move' },
    },
    {
      to: 'wren',
      says: 'The lamp is going out. Have you breath for one more light?',
      context: at(3),
      npcState: { mana: 1, effects: ['silenced'] },
      model: JSON.stringify({
        dialogue: 'For a lamp, always. Mind your eyes.',
        action: { type: 'CAST', target: 'foxlight' },
      }),
      refused: {
        code: 'RULE_REFUSED',
        rule: 'silenced',
        because: 'there is iron on her wrists, and iron silences every spell',
      },
    },
    {
      to: 'wren',
      says: 'What are you hiding behind your back?',
      context: at(3),
      model: '{"dialogue": "Nothing. My other hand.", "action": {"type": "INTERACT"}}',
      refused: { code: 'TARGET_MISSING', because: 'an interaction needs a target, and she names none' },
    },
  ],
};
