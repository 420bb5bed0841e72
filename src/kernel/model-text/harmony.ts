import { joined, type Separated } from './reasoning.js';
import { toolCallText } from './tool-calls.js';
import { wholeAnswersIn } from './whole-answers.js';

/** The tokens of harmony, the format of gpt-oss. */
const TOKENS = /<\|(start|channel|constrain|message|end|return|call)\|>/gi;
/** How much of a header is read, in characters. */
const HEADER_CHARS = 256;
/** How many calls of one text are kept. */
const CALLS = 16;
/** Only harmony has these. */
const IS_HARMONY = /<\|(?:channel|message|constrain)\|>/i;

type Message = { readonly channel: string; readonly content: string; readonly called: string | undefined };

/** Messages of these roles were not written by the model. */
const OTHERS = /^\s*(?:user|system|developer|tool|functions)\b/i;

/** The messages of a text in their order. What precedes the first token belongs to the message that the prompt began: reasoning. */
const messagesIn = (text: string): readonly Message[] => {
  const found: Message[] = [];
  let part = 'content';
  let role = '';
  let channel = 'analysis';
  let content = '';
  let from = 0;
  const take = (to: number): void => {
    const said = text.slice(from, to);
    if (part === 'start') role = said;
    else if (part === 'channel') channel = said;
    else if (part === 'content') content += said;
  };
  const end = (): void => {
    const [, word = '', rest = ''] = /^\s*(\w*)([\s\S]*)$/.exec(channel) ?? [];
    // A model also calls functions while it reasons; those calls are a part of its reasoning.
    const header = `${role.slice(0, HEADER_CHARS)} ${rest.slice(0, HEADER_CHARS)}`;
    const called = /^analysis$/i.test(word) ? undefined : /\bto=(?:functions\.)?([\w.-]{1,64})/i.exec(header)?.[1];
    // A header that no message follows holds what the message says.
    const said = content === '' && called === undefined ? rest : content;
    if (!OTHERS.test(role) && (said.trim() !== '' || called !== undefined))
      found.push({ channel: word.toLowerCase(), content: said, called });
    role = '';
    channel = '';
    content = '';
  };
  for (const { 0: token, 1: name = '', index } of text.matchAll(TOKENS)) {
    take(index);
    const kind = name.toLowerCase();
    const ends = kind === 'end' || kind === 'return' || kind === 'call';
    // A message that lacks its end stops at the next one.
    if (ends || kind === 'start' || (kind === 'channel' && part !== 'start')) end();
    part = ends ? 'between' : kind === 'message' ? 'content' : kind;
    from = index + token.length;
  }
  take(text.length);
  end();
  return found;
};

/** What is left of harmony if a server leaves out its tokens: `analysisThe player …assistantfinalGood day.` */
const BARE = /^\s*analysis(?=[^a-z\s])/;
const BARE_FINAL = 'assistantfinal';

const withoutBareChannels = (text: string): Separated => {
  const begun = BARE.exec(text);
  if (begun === null) return { text, reasoning: '' };
  const at = text.indexOf(BARE_FINAL);
  return {
    text: at === -1 ? '' : text.slice(at + BARE_FINAL.length),
    reasoning: text.slice(begun[0].length, at === -1 ? text.length : at).trim(),
  };
};

/**
 * The answer of a text in harmony: its first final message, or without one its last comment, and its calls of functions. Everything else is reasoning.
 * Any other text is returned unchanged.
 */
export const withoutChannels = (text: string): Separated => {
  const first = IS_HARMONY.exec(text);
  if (first === null) return withoutBareChannels(text);
  if (wholeAnswersIn(text).endAround(0, first.index, true) !== -1) return { text, reasoning: '' };
  const messages = messagesIn(text);
  const calls = messages.flatMap(({ called, content }) => (called === undefined ? [] : [{ called, content }]));
  const said = messages.filter(({ called }) => called === undefined);
  const answer =
    said.find(({ channel }) => channel === 'final' || channel === '') ??
    (calls.length > 0 ? undefined : said.findLast(({ channel }) => channel === 'commentary'));
  return {
    text: [
      answer?.content ?? '',
      ...calls.slice(0, CALLS).map(({ called, content }) => toolCallText(called, content.trim())),
    ].join(''),
    reasoning: joined(said.filter(({ channel }) => channel === 'analysis').map(({ content }) => content)),
  };
};
