import type { Register } from './self.js';

type Said = { readonly plain: readonly string[] } & { readonly [R in Exclude<Register, 'plain'>]?: readonly string[] };

/**
 * Phrases by occasion and register; a register without its own phrases uses the plain ones. `{M}` and `{m}` are replaced by a memory, a reason or a
 * thing at the beginning and in the middle of a sentence, `{x}` by its subject.
 */
export const phrases = {
  greeting: {
    plain: ['Well met.', 'Good to see you.', 'Hello there.'],
    gruff: ['Mm. What is it?', 'You again, or somebody like you.', 'Speak up, then.'],
    courtly: ['I bid you welcome.', 'Be welcome here.', 'Well met, friend.'],
    warm: ['Hello, hello! Come closer.', 'There you are! How good of you to stop by.', 'Welcome, welcome.'],
  },
  farewell: {
    plain: ['Farewell.', 'Until next time.', 'Go well.'],
    gruff: ['Off with you, then.', 'Mind the road.', 'Go on. The door knows you.'],
    courtly: ['May your road be smooth.', 'I wish you a safe journey.', 'Until we meet again.'],
    warm: ['Take care of yourself.', 'Come back soon, will you?', 'Safe home, dear.'],
  },
  thanked: {
    plain: ['You are welcome.', 'Think nothing of it.', 'Gladly done.'],
    gruff: ['No need for that.', 'Save your breath.', 'It was no trouble. Not much, anyway.'],
    courtly: ['The pleasure is mine.', 'You honour me.', 'It was the least that I could do.'],
    warm: ['Oh, you are very welcome.', 'It was a joy.', 'Any time, any time.'],
  },
  forgiven: {
    plain: ['It is forgotten.', 'No harm done.', 'Let us leave it at that.'],
    gruff: ['Just do not do it twice.', 'Fine. Done with.'],
    courtly: ['You are forgiven.', 'We need not speak of it again.'],
    warm: ['Oh, never mind that.', 'There, there. All is well.'],
  },
  praised: {
    plain: ['That is good of you to say.', 'Kind words. I will keep them.', 'You flatter me.'],
    gruff: ['Words are cheap. But these I will take.', 'Hm. I have heard worse.'],
    courtly: ['You are too kind.', 'Your praise does me honour.'],
    warm: ['You will make me blush.', 'Oh, what a lovely thing to say!'],
  },
  insulted: {
    plain: ['Mind your tongue.', 'I have been called worse, by better.', 'Say that once more and we are done talking.'],
    gruff: ['Careful. I bite back.', 'Big words for somebody within reach.', 'Say it again, and slower.'],
    courtly: ['Such words are beneath you.', 'I shall pretend that I did not hear that.'],
    warm: ['That was unkind, and you know it.', 'Who has hurt you, that you talk like that?'],
  },
  threatened: {
    plain: [
      'Put that thought away, before one of us is sorry.',
      'I would think twice about that.',
      'Stay back. I am warning you.',
    ],
    gruff: ['Try it. Others have.', 'You want trouble? I have plenty.', 'Back off. I will not say it twice.'],
    courtly: [
      'I advise you most strongly against it.',
      'Lower your voice and your hand, and we may yet part in peace.',
    ],
    warm: ['Please, there is no need for this.', 'Stop. Nobody has to be hurt today.'],
  },
  given: {
    plain: ['For me? I will not forget it.', 'That is generous. Thank you.', 'Thank you. I will find a use for it.'],
    gruff: ['Hm. And what do you want for it?', 'I will take it. Thanks.', 'Not bad. I owe you one.'],
    courtly: ['You are most generous; I thank you.', 'A noble gift. You have my thanks.'],
    warm: ['Oh, you should not have! Thank you.', 'For me? How lovely, thank you!'],
  },
  givenThing: {
    plain: ['{M}, for me? Thank you.', '{M}! That is generous of you. Thank you.'],
    gruff: ['{M}. Hm. I owe you one for that.', '{M}, is it? Thanks. I mean that.'],
    courtly: ['{M}: a noble gift. I thank you.', '{M}? You are most generous; I thank you.'],
    warm: ['{M}! Oh, you should not have. Thank you!', '{M}, for me? How lovely, thank you!'],
  },
  offered: {
    plain: ['That is an offer. Let me think about it.', 'A fair offer, perhaps. Give me a moment to think.'],
    gruff: ['Is that your best offer?', 'An offer. Hm. Show me first.'],
    courtly: ['I shall consider your offer.', 'Your offer does you credit. Let me consider it.'],
    warm: ['What an offer! Let me think about it.', 'You are offering me that? Let me think.'],
  },
  refused: {
    plain: ['No. {M}', 'That I will not do. {M}', 'I cannot. {M}'],
    gruff: ['No. {M}', 'Not a chance. {M}', '{M} So: no.'],
    courtly: ['I regret that I must refuse. {M}', 'I fear that is not possible. {M}'],
    warm: ['I wish I could. {M}', 'Oh, I am afraid not. {M}'],
  },
  refusedPlainly: {
    plain: ['No. That is not something I do here.', 'I cannot do that.', 'That I will not do.'],
    gruff: ['No.', 'Not a chance.', 'Ask somebody else. I will not.'],
    courtly: ['I regret that I must refuse.', 'I fear that is not possible.'],
    warm: ['I am sorry, but no.', 'I wish I could, but no.'],
  },
  acting: {
    plain: ['There is something I must do.', 'Excuse me. This cannot wait.', 'Talk later. I am needed.'],
    gruff: ['Out of my way. There is work.', 'Not now.', 'Later. This comes first.'],
    courtly: ['Forgive me, I am called away.', 'You must excuse me for a moment.'],
    warm: ['Sorry, I have to see to this first.', 'One moment, this cannot wait.'],
  },
  fighting: {
    plain: ['Then defend yourself!', 'Enough talk.', 'You leave me no choice.'],
    gruff: ['Enough. Come on, then!', 'You asked for it.'],
    courtly: ['Have at you!', 'You leave me no choice.'],
    warm: ['I did not want this!', 'Forgive me, but you leave me no choice!'],
  },
  recalled: {
    plain: ['{M}', '{M} That much I know.', 'As I recall, {m}', 'If I have it right, {m}', 'I have not forgotten. {M}'],
    gruff: ['{M}', '{M} That is what I know.', 'What I know is this: {m}', '{M} Make of it what you will.'],
    courtly: ['If my memory serves me, {m}', 'I can tell you this: {m}', '{M} So it has stayed with me.'],
    warm: ['Oh, that I know: {m}', '{M} I would not forget such a thing.', 'Let me think. Yes: {m}'],
  },
  closest: {
    plain: ['I am not sure, but this comes to mind: {m}', 'All that comes to mind is this: {m}'],
    gruff: ['All I can think of: {m}', 'Not sure. But: {m}'],
    courtly: ['I cannot say for certain, but this comes to mind: {m}', 'The nearest that I recall is this: {m}'],
    warm: ['Hm, let me think. All that comes to mind is this: {m}', 'I am not sure, dear, but I do recall this: {m}'],
  },
  toldMe: {
    plain: ['You told me so yourself: {m}', 'By your own words, {m}', 'I was listening, you know: {m}'],
    gruff: ['You said it yourself: {m}', 'Forgotten your own words? You said that {m}'],
    courtly: ['You were kind enough to tell me that {m}', 'By your own account, {m}'],
    warm: ['You told me, remember? You said that {m}', 'But you told me yourself: {m}'],
  },
  toldMeWhole: {
    plain: ['{M} You told me so yourself.', '{M} I was listening, you know.'],
    gruff: ['{M} Your own words.'],
    courtly: ['{M} You were kind enough to tell me.'],
    warm: ['{M} You told me, remember?'],
  },
  askedAgain: {
    plain: [
      'You have asked me that before, and I know no more than I did.',
      'That question again? My answer has not grown.',
    ],
    gruff: ['You asked that already. Same answer: none.', 'Again? I still do not know.'],
    courtly: ['You asked me so before, and alas, I have learned nothing since.'],
    warm: ['You asked me that before, did you not? I still have no answer, I am sorry.'],
  },
  saidBefore: {
    plain: ['I said: "{M}"', 'My words were: "{M}"'],
    gruff: ['Wash your ears. I said: "{M}"', 'I said: "{M}"'],
    courtly: ['My words were these: "{M}"', 'I said: "{M}"'],
    warm: ['I said: "{M}"', 'Did you not hear? I said: "{M}"'],
  },
  heardBefore: {
    plain: ['You said: "{M}"', 'Your words were: "{M}"'],
    gruff: ['You said: "{M}" Forgotten already?', 'You said: "{M}"'],
    courtly: ['Your words were these: "{M}"', 'You said: "{M}"'],
    warm: ['You said: "{M}"', 'You said: "{M}" I was listening.'],
  },
  unknown: {
    plain: [
      'I could not say. Why do you ask?',
      'I know nothing of that. What have you heard?',
      'That I do not know. Who told you to ask me?',
    ],
    gruff: ['No idea. Why?', 'How should I know? What is it to you?', 'Not my business. What makes it yours?'],
    courtly: [
      'I regret that I cannot say. What makes you ask?',
      'That is beyond my knowledge, I fear. What have you heard?',
    ],
    warm: ['Oh, I wish I knew. Why do you ask?', 'I am sorry, I could not tell you. What have you heard?'],
  },
  unknownThing: {
    plain: ['{M}? I know nothing of it. What have you heard?', 'About {x} I could not say. Why do you ask?'],
    gruff: ['{M}? No idea. Why?', 'Nothing to tell about {x}. What is it to you?'],
    courtly: [
      'Of {x} I regret to know nothing. What makes you ask?',
      '{M}? That is beyond my knowledge, I fear. What have you heard?',
    ],
    warm: [
      '{M}? Oh, I wish I knew. Why do you ask?',
      'About {x}? I am sorry, I could not tell you. What have you heard?',
    ],
  },
  ownAffair: {
    plain: ['That is my own affair. Why do you ask?', 'I would rather not speak of that.'],
    gruff: ['That is my affair.', 'What is it to you?'],
    courtly: ['That I prefer to keep to myself.', 'You will forgive me if I do not speak of that.'],
    warm: ['Oh, that is a long story. Why do you ask?', 'I would rather keep that to myself, if you do not mind.'],
  },
  heard: {
    plain: [
      'Is that so?',
      'I see.',
      'Go on, I am listening.',
      'Good to know.',
      'I will keep that in mind.',
      'So that is how it stands.',
      'I had not heard that.',
      'I see. And what do you want from me?',
      'You do not say.',
      'Well, well.',
    ],
    gruff: [
      'And?',
      'Hm.',
      'If you say so.',
      'So?',
      'Noted.',
      'Hm. What do you want me to do about it?',
      'Is there more, or was that all?',
      'I have heard stranger things.',
    ],
    courtly: [
      'Indeed?',
      'Pray, go on.',
      'I am glad that you tell me.',
      'I see. How may I be of service?',
      'I shall remember it.',
      'You have my ear.',
      'How very interesting.',
    ],
    warm: [
      'Is that so? Do tell me more.',
      'My, my. And then?',
      'Well, I never!',
      'How nice that you tell me.',
      'I will remember that.',
      'You do see things, do you not?',
      'Oh, I see.',
    ],
  },
  heardThing: {
    plain: [
      '{M}? What about it?',
      '{M}, you say?',
      'So it is about {x}.',
      'Is that so? I had not thought of {x}.',
      'I see. I will keep {x} in mind.',
    ],
    gruff: ['{M}. And?', '{M}? What do you want me to do about it?', '{M}. Hm.', 'What is {x} to me?'],
    courtly: [
      '{M}? Pray, go on.',
      'You speak of {x}. What of it?',
      'Indeed? I shall think of {x}.',
      '{M}. How curious.',
    ],
    warm: ['{M}? Do tell me more.', '{M}! And then?', 'Oh, {x}! Go on.', 'I see. You have {x} on your mind.'],
  },
  puzzled: {
    plain: ['I do not follow you.', 'You have lost me there.', 'I can make nothing of that.'],
    gruff: ['Talk sense.', 'What is that supposed to mean?', 'Save it. I do not follow.'],
    courtly: ['I fear that your meaning escapes me.', 'You speak in riddles.'],
    warm: ['Oh dear, I do not follow you at all.', 'You talk strangely today.'],
  },
  seen: {
    plain: ['Did you see that?', 'Hm. What was that about?', 'I saw it. What now?'],
    gruff: ['I saw that.', 'Hm. None of my business. Yet.', 'Noted.'],
    courtly: ['How singular. What does it mean?', 'I have taken note of that.'],
    warm: ['Oh! Did you see that?', 'Goodness. What was that?'],
  },
  wanted: {
    plain: ['We can talk about that. What is it worth to you?', 'Perhaps. What do I get for it?', 'And why should I?'],
    gruff: ['What is in it for me?', 'Maybe. Depends on what you pay.', 'Why should I?'],
    courtly: ['It might be arranged. What do you offer?', 'I shall consider it. Why do you need it?'],
    warm: ['Let me see what I can do. What is it for?', 'I might. But tell me first: why?'],
  },
  wantedThing: {
    plain: ['{M}? We can talk about that. What is it worth to you?', '{M}? Perhaps. What do I get for it?'],
    gruff: ['{M}? What is in it for me?', '{M}? Depends on what you pay.'],
    courtly: ['{M}? It might be arranged. What do you offer?', '{M}? I shall consider it. Why do you need it?'],
    warm: ['{M}? Let me see what I can do. What is it for?', '{M}? I might. But tell me first: why?'],
  },
  hasThing: {
    plain: ['{M}? Yes, I have it. What is it worth to you?', 'I do have {x}. Why do you ask?'],
    gruff: ['{M}? I have it. It is not free.', '{M} is mine. Make an offer.'],
    courtly: ['{M} is indeed in my keeping. What do you offer?', 'I do have {x}. For what purpose do you need it?'],
    warm: ['{M}? Yes, I have that right here. What do you need it for?', 'I do have {x}! Do you need it badly?'],
  },
  hasNot: {
    plain: ['{M}? I have none.', 'I have nothing of the kind. {M}, you say?'],
    gruff: ['{M}? Do I look as if I had that? No.', 'No {x} here.'],
    courtly: ['{M}? I regret that I have none.', 'Alas, I have no {x}.'],
    warm: ['{M}? Oh, I have none, I am sorry.', 'I am afraid I have no {x}.'],
  },
  carrying: {
    plain: ['I have {m}', 'Let me see. I have {m}'],
    gruff: ['What you see: {m}', 'I have {m} Nothing else.'],
    courtly: ['I have in my keeping {m}', 'At the moment: {m}'],
    warm: ['Oh, this and that: {m}', 'Let me see. I have {m}'],
  },
  carryingNothing: { plain: ['I have nothing at the moment.', 'My hands are empty.'] },
  stranger: {
    plain: ['Somebody who minds what goes on here. And who are you?', 'My name is my own for now. What is yours?'],
    gruff: ['Who wants to know?', 'I am the one you are bothering. And you?'],
    courtly: ['One who prefers to hear your name first.', 'My name would mean nothing to you. What is yours?'],
    warm: ['Oh, nobody you would know. And who are you, dear?', 'Just somebody who is glad of company. And you?'],
  },
  faring: {
    plain: ['Well enough. And you?', 'I cannot complain. How about you?'],
    gruff: ['I stand. That is enough.', 'As you see. Why?'],
    courtly: ['I am well, thank you. And yourself?', 'Tolerably well. How kind of you to ask.'],
    warm: ['Very well, now that you ask! And you?', 'Oh, I am fine. How are you?'],
  },
  hurt: { plain: ['I have been better. These wounds want rest.', 'Hurt, if you must know. It will pass.'] },
  silence: {
    plain: ['Yes? You look as if you had something to say.', 'Well? I am listening.'],
    gruff: ['Say something or move along.', 'Well?'],
    courtly: ['You wished to speak with me?', 'I am at your disposal.'],
    warm: ['Yes, dear? What is on your mind?', 'Do not be shy. What is it?'],
  },
} as const satisfies Readonly<Record<string, Said>>;

export type Occasion = keyof typeof phrases;

/** The phrases of a register for an occasion. */
export const phrasesFor = (occasion: Occasion, register: Register): readonly string[] => {
  const said: Said = phrases[occasion];
  return said[register] ?? said.plain;
};
