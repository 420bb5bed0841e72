import type { Language } from './language.js';
import type { Register } from './self.js';

type Said = { readonly plain: string } & { readonly [R in Exclude<Register, 'plain'>]?: string };

/**
 * Phrases by occasion and register, separated by "|"; a register without phrases uses the plain ones. `{M}` and `{m}` stand for a memory, a reason, a
 * name or a thing at the beginning and in the middle of a sentence.
 */
const english = {
  greeting: {
    plain: 'Well met.|Good to see you.|Hello there.',
    gruff: 'Mm. What is it?|You again, or somebody like you.|Speak up, then.',
    courtly: 'I bid you welcome.|Be welcome here.|Well met, friend.',
    warm: 'Hello, hello! Come closer.|There you are! How good of you to stop by.|Welcome, welcome.',
  },
  farewell: {
    plain: 'Farewell.|Until next time.|Go well.',
    gruff: 'Off with you, then.|Mind the road.|Go on. The door knows you.',
    courtly: 'May your road be smooth.|I wish you a safe journey.|Until we meet again.',
    warm: 'Take care of yourself.|Come back soon, will you?|Safe home, dear.',
  },
  thanked: {
    plain: 'You are welcome.|Think nothing of it.|Gladly done.',
    gruff: 'No need for that.|Save your breath.|It was no trouble. Not much, anyway.',
    courtly: 'The pleasure is mine.|You honour me.|It was the least that I could do.',
    warm: 'Oh, you are very welcome.|It was a joy.|Any time, any time.',
  },
  forgiven: {
    plain: 'It is forgotten.|No harm done.|Let us leave it at that.',
    gruff: 'Just do not do it twice.|Fine. Done with.',
  },
  praised: {
    plain: 'That is good of you to say.|Kind words. I will keep them.|You flatter me.',
    courtly: 'You are too kind.|Your praise does me honour.',
  },
  insulted: {
    plain: 'Mind your tongue.|I have been called worse, by better.|Say that once more and we are done talking.',
    gruff: 'Careful. I bite back.|Big words for somebody within reach.|Say it again, and slower.',
  },
  threatened: {
    plain:
      'Put that thought away, before one of us is sorry.|I would think twice about that.|Stay back. I am warning you.',
    gruff: 'Try it. Others have.|You want trouble? I have plenty.|Back off. I will not say it twice.',
    courtly: 'I advise you most strongly against it.|Lower your voice and your hand, and we may yet part in peace.',
  },
  given: { plain: 'For me? I will not forget it.|That is generous. Thank you.|Thank you. I will find a use for it.' },
  givenThing: { plain: '{M}, for me? Thank you.|{M}! That is generous of you. Thank you.' },
  offered: { plain: 'That is an offer. Let me think about it.|A fair offer, perhaps. Give me a moment to think.' },
  refused: {
    plain: 'No. {M}|That I will not do. {M}|I cannot. {M}',
    courtly: 'I regret that I must refuse. {M}',
    warm: 'I wish I could. {M}',
  },
  refusedPlainly: { plain: 'No. That is not something I do here.|I cannot do that.|That I will not do.' },
  acting: { plain: 'There is something I must do.|Excuse me. This cannot wait.|Talk later. I am needed.' },
  fighting: { plain: 'Then defend yourself!|Enough talk.|You leave me no choice.' },
  recalled: { plain: '{M}|{M} That much I know.|As I recall, {m}|If I have it right, {m}|I have not forgotten. {M}' },
  closest: { plain: 'I am not sure, but this comes to mind: {m}|All that comes to mind is this: {m}' },
  toldMe: { plain: 'You told me so yourself: {m}|By your own words, {m}|You told me: {m}|You said that {m}' },
  toldMeWhole: { plain: '{M} You told me so yourself.|{M} I was listening, you know.' },
  quotedMemory: { plain: 'This I remember: "{M}"' },
  quotedSelf: { plain: 'What they say of me is true: "{M}"' },
  askedAgain: {
    plain:
      'You have asked me that before, and I know no more than I did.|That question again? My answer has not grown.',
  },
  saidBefore: { plain: 'I said: "{M}"|My words were: "{M}"' },
  heardBefore: { plain: 'You said: "{M}"|Your words were: "{M}"' },
  news: { plain: 'No, I had not heard that.|That is news to me.|I did not know. Thank you for telling me.' },
  unknown: {
    plain:
      'I do not know. Why do you ask?|I know nothing of that. What have you heard?|That I do not know, to be honest. Do you?',
    gruff: 'No idea. Why?|I do not know. Ask somebody else, will you?',
    courtly: 'I regret that I do not know. What makes you ask?',
    warm: 'Oh, I wish I knew. Why do you ask?|I am sorry, I do not know. What have you heard?',
  },
  ownAffair: {
    plain: 'That is my own affair. Why do you ask?|I would rather not speak of that.',
    gruff: 'That is my affair.|What is it to you?',
  },
  heard: {
    plain:
      'Is that so?|I see.|Go on, I am listening.|Good to know.|I will keep that in mind.|So that is how it stands.|I had not heard that.|You do not say.|Well, well.|I hear you.',
    gruff: 'Hm.|If you say so.|Noted.|So that is how it is.|I have heard stranger things.|I will remember it.',
    courtly: 'Indeed?|Pray, go on.|I am glad that you tell me.|I shall remember it.|You have my ear.',
    warm: 'Is that so? Do tell me more.|Well, I never!|How nice that you tell me.|I will remember that.|Oh, I see.',
  },
  sorry: {
    plain: 'I am sorry to hear that.|That is hard. I am sorry.|Sad news.',
    gruff: 'Hm. That is hard.|Bad luck, that.',
  },
  named: { plain: '{M}. I will remember the name.|Well met, {M}.' },
  puzzled: { plain: 'I do not follow you.|You have lost me there.|I can make nothing of that.' },
  seen: { plain: 'Did you see that?|Hm. What was that about?|I saw it. What now?' },
  wanted: {
    plain: 'We can talk about that. What is it worth to you?|Perhaps. What do I get for it?',
    gruff: 'What is in it for me?|Maybe. Depends on what you pay.',
    warm: 'Let me see what I can do. What is it for?|I might. But tell me first: why?',
  },
  wantedThing: {
    plain: '{M}? We can talk about that. What is it worth to you?|{M}? Perhaps. What do I get for it?',
    gruff: '{M}? What is in it for me?|{M}? Depends on what you pay.',
  },
  hasThing: { plain: '{M}? Yes, I have it. What is it worth to you?|I do have {m}. Why do you ask?' },
  hasNot: { plain: '{M}? No, I have none.|{M}? There is none here, and no chance of one.' },
  carrying: { plain: 'I have {m}|Let me see. I have {m}' },
  carryingNothing: { plain: 'I have nothing at the moment.|My hands are empty.' },
  stranger: {
    plain: 'Somebody who minds what goes on here. And who are you?|My name is my own for now. What is yours?',
    gruff: 'Who wants to know?|I am the one you are bothering. And you?',
  },
  faring: { plain: 'Well enough. And you?|I am fine. How about you?' },
  hurt: { plain: 'I have been better. These wounds want rest.|Hurt, if you must know. It will pass.' },
  silence: { plain: 'Yes? You look as if you had something to say.|Well? I am listening.' },
} as const satisfies Readonly<Record<string, Said>>;

export type Occasion = keyof typeof english;

const german: Readonly<Record<Occasion, string>> = {
  greeting: 'Guten Tag.|Sei gegrüßt.|Willkommen.',
  farewell: 'Leb wohl.|Bis zum nächsten Mal.|Gute Reise.',
  thanked: 'Gern geschehen.|Keine Ursache.',
  forgiven: 'Schon vergessen.|Nichts passiert.',
  praised: 'Das ist nett von dir.|Zu viel der Ehre.',
  insulted: 'Hüte deine Zunge.|Das nimmst du zurück.',
  threatened: 'Das würde ich mir gut überlegen.|Bleib mir vom Leib.',
  given: 'Für mich? Danke.|Das ist großzügig. Danke.',
  givenThing: '{M}, für mich? Danke.',
  offered: 'Ein Angebot. Lass mich darüber nachdenken.',
  refused: 'Nein. {M}|Das geht nicht. {M}',
  refusedPlainly: 'Nein, das tue ich nicht.|Das geht nicht.',
  acting: 'Ich muss etwas erledigen.|Das kann nicht warten.',
  fighting: 'Dann wehr dich!|Du lässt mir keine Wahl.',
  recalled: '{M}',
  closest: 'Mir fällt dazu nur ein: „{M}“|Ich bin nicht sicher, aber ich erinnere mich: „{M}“',
  toldMe: 'Du hast mir gesagt: „{M}“|Deine Worte waren: „{M}“',
  toldMeWhole: 'Du hast mir erzählt, dass {M}',
  quotedMemory: 'Ich erinnere mich: „{M}“',
  quotedSelf: 'Man sagt über mich: „{M}“',
  askedAgain: 'Das hast du schon gefragt, und ich weiß es immer noch nicht.',
  saidBefore: 'Ich habe gesagt: „{M}“',
  heardBefore: 'Du hast gesagt: „{M}“',
  news: 'Nein, das wusste ich nicht.|Das ist mir neu.',
  unknown: 'Das weiß ich nicht. Warum fragst du?|Davon weiß ich nichts. Was hast du gehört?',
  ownAffair: 'Das ist meine Sache.|Darüber möchte ich nicht sprechen.',
  heard: 'Ach ja?|Ich verstehe.|Gut zu wissen.|Das merke ich mir.|So ist das also.',
  sorry: 'Das tut mir leid.|Das ist schlimm.',
  named: '{M}. Den Namen merke ich mir.',
  puzzled: 'Ich kann dir nicht folgen.|Das verstehe ich nicht.',
  seen: 'Hast du das gesehen?|Was war das denn?',
  wanted: 'Vielleicht. Was ist es dir wert?|Darüber lässt sich reden. Was habe ich davon?',
  wantedThing: '{M}? Darüber lässt sich reden. Was ist es dir wert?',
  hasThing: '{M}? Ja, das habe ich. Was ist es dir wert?',
  hasNot: '{M}? Damit kann ich nicht dienen.',
  carrying: 'Ich habe: {m}',
  carryingNothing: 'Im Moment habe ich nichts.',
  stranger: 'Mein Name tut nichts zur Sache. Wie ist deiner?',
  faring: 'Ganz gut. Und dir?|Ich kann nicht klagen. Und du?',
  hurt: 'Es ging mir schon besser.',
  silence: 'Ja? Ich höre.',
};

/** What quotes a text in a language without phrases; anything else is a sound. */
const quoting = /quoted|told|recalled|closest|Before/;
const SOUNDS = ['Hm.', 'Mm.', '…'];

/** The phrases for an occasion in a language, and in a register if it has some. */
export const phrasesFor = (occasion: Occasion, register: Register, language: Language): readonly string[] => {
  if (language === 'other') return quoting.test(occasion) ? ['“{M}”'] : SOUNDS;
  const said: Said = english[occasion];
  return (language === 'de' ? german[occasion] : (said[register] ?? said.plain)).split('|');
};
