import type { JsonObject } from '../../../kernel/base/json.js';
import { languageOf } from './language.js';
import { saidByItself, saidOfOneself, sentence, turned, upperFirst } from './own-view.js';

/** A way of talking. */
export type Register = 'plain' | 'gruff' | 'courtly' | 'warm';

/** What a persona says in one sentence; `isOwn` if it is in the first person. */
export type Fact = { readonly text: string; readonly isOwn: boolean };

/** The speaker, according to persona and state. */
export type Self = {
  readonly name: string | null;
  /** Such as "an innkeeper who counts twice". */
  readonly trade: string | null;
  /** The first sentence of the persona, in the first person. */
  readonly about: string | null;
  /** Every sentence of the persona, in the first person where that is easy. */
  readonly facts: readonly Fact[];
  readonly register: Register;
};

const TITLE =
  '(?:(?:Sergeant|Captain|Lord|Lady|Sir|Dame|Brother|Sister|Father|Mother|Master|Mistress|Old|Young|King|Queen|Prince|Princess|Doctor|Dr\\.) )?';
const NAME = `${TITLE}[\\p{Lu}][\\p{L}'’-]+(?: (?:of |the )?[\\p{Lu}][\\p{L}'’-]+)*`;
const NO_NAME =
  /^(?:A|An|The|You|I|My|Your|This|He|She|It|They|We|Once|In|At|On|Old|Young|No|Not|Always|Never|Speaks?|Answers?|Keep|Be|As|Act|Talk|Talks|Do|If|When|Pretend|Play)$/;

const textIn = (state: JsonObject, names: readonly string[]): string | null => {
  for (const name of names) {
    const value = state[name];
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return null;
};

/** Adds "the", "a" or "an" before a trade without an article. */
const withArticle = (trade: string): string => {
  if (/^(?:an?|the|one|my|your) /i.test(trade))
    return trade.replace(/^(An?|The|One) /, (article) => article.toLowerCase());
  return `${/^[aeiou]/i.test(trade) ? 'an' : 'a'} ${trade}`;
};

/** After these words, "named Rex" names another being. */
const OWNING = /\b(?:with|and|has|have|had|owns?|keeps?|loves?|feeds?|misses|whose|his|her|their)\b/;

/** The name in "a baker named Tom"; null if it is the name of a being that he has. */
const nameDescribed = (persona: string): string | undefined => {
  const { before = '', name } =
    new RegExp(`^(?<before>[^.!?]*?)\\b(?:[Nn]amed|[Cc]alled) (?<name>${NAME})`, 'u').exec(persona)?.groups ?? {};
  return OWNING.test(before) ? undefined : name;
};

const nameIn = (persona: string): string | null => {
  const called = [
    new RegExp(
      `\\b(?:[Mm]y name is|[Yy]our name is|[Nn]ame:|(?:[Hh]e is|[Ss]he is|[Yy]ou are|I am) (?:named|called)) (${NAME})`,
      'u',
    ).exec(persona)?.[1],
    new RegExp(`^(?:You are|You're|I am|I'm|This is) (${NAME})`, 'u').exec(persona)?.[1],
    new RegExp(
      `^(${NAME})(?=[.:]|$|, (?:an?|the|who|of|der|die|das|eine?) | [-—] | (?:is|was|has|the|of|from|who|ist|war|hat|[a-z]+s|[a-z]+t)\\b)`,
      'u',
    ).exec(persona)?.[1],
    nameDescribed(persona),
  ].find((name) => name !== undefined && !NO_NAME.test(name) && !/^(?:A|An|The|You|I|My|Your) /.test(name));
  return called ?? null;
};

/** The persona's own term for the NPC: "a guard of the north gate". */
const tradeIn = (persona: string, name: string | null): string | null => {
  const [first = ''] = persona.split(/(?<=[.!?])\s/);
  const rest = (name !== null && first.includes(name) ? first.slice(first.indexOf(name) + name.length) : first).replace(
    /[.!?]$/,
    '',
  );
  const found =
    /^(?:You are |You're |I am |I'm )?((?:an?|the) [^,;:]+)/i.exec(rest) ??
    /^(?:,| is| was|:| -|\s—) ?((?:an?|the) [^,;:]+)/i.exec(rest);
  if (found?.[1] !== undefined) return withArticle(found[1].trim());
  // "Gruff dwarf with a limp": a description without an article.
  const described =
    name === null && /^[A-Z][a-z]+(?: [a-z-]+){1,6}$/.test(rest) && !NO_NAME.test(/^\w+/.exec(rest)?.[0] ?? '');
  return described ? withArticle(rest.charAt(0).toLowerCase() + rest.slice(1)) : null;
};

const STYLES: readonly (readonly [Register, RegExp])[] = [
  [
    'gruff',
    /\b(?:gruff|dry|brief|curt|stern|surly|grumpy|grim|tough|rough|weary|tired|bitter|taciturn|sergeant|soldier|mercenary|bandit|pirate|smuggler|smith|blacksmith|dwarf|orc|warrior|veteran|gravedigger|guard|watchman)\b/i,
  ],
  [
    'courtly',
    /\b(?:noble|nobleman|noblewoman|lady|lord|knight|butler|steward|king|queen|prince|princess|duke|duchess|baron|baroness|courtly|courteous|formal|polite|priest|priestess|scholar|sage|wizard|mage|librarian|monk|abbess|elf|elven|herald|ambassador)\b/i,
  ],
  [
    'warm',
    /\b(?:kind|warm|cheerful|merry|jolly|friendly|gentle|motherly|fatherly|baker|bard|minstrel|nurse|healer|grandmother|grandfather|child|girl|boy|farmer)\b/i,
  ],
];

/** A sentence of a persona in the first person; null if its subject may be someone else, or if it is in German. */
const saidByOneself = (persona: string, name: string | null): string | null => {
  if (languageOf(persona) === 'de') return null;
  const [who = ''] = name === null ? [] : name.split(' ');
  if (/^(?:You|Your|You['’]re) /i.test(persona)) return sentence(saidOfOneself(persona));
  const named = persona.replace(/^(?:She|He|They) (?=[a-z])/, `${who} `);
  if (/^(?:Her|His|Their) (?=[a-z])/.test(persona)) return sentence(turned(persona));
  const own = /^(?:I|My) /.test(named)
    ? named
    : who === ''
      ? null
      : (saidByItself(named, name ?? who) ?? saidByItself(named, who));
  return own === null ? null : sentence(upperFirst(own));
};

/** "Bram, a smith who hates the duke" says two things: "I am a smith who …" and "I hate the duke". */
const saidInDescription = (persona: string, name: string | null): readonly string[] => {
  const described = name !== null && persona.startsWith(`${name}, `) ? persona.slice(name.length + 2) : '';
  if (!/^(?:an?|the) /.test(described)) return [];
  const [what = '', ...deeds] = described.split(' who ');
  const own = saidByItself(`${name ?? ''} ${deeds.join(' who ')}`, name ?? '');
  return [...(own === null ? [] : [sentence(own)]), sentence(`I am ${what.replace(/[,:]$/, '')}`)];
};

const factsIn = (one: string, name: string | null): readonly Fact[] => {
  const own = saidByOneself(one, name);
  const texts = own === null ? saidInDescription(one, name) : [own];
  return texts.length === 0 ? [{ text: one, isOwn: false }] : texts.map((text) => ({ text, isOwn: true }));
};

/** Reads the speaker from the persona and state. @param tones the manner that the rules require; it overrides the persona */
export const selfOf = (persona: string | null, state: JsonObject, tones: readonly string[]): Self => {
  const text = persona?.trim() ?? '';
  const name = nameIn(text) ?? textIn(state, ['name', 'displayName']);
  const stated = textIn(state, ['trade', 'occupation', 'profession', 'job', 'role', 'rank', 'class']);
  const trade = tradeIn(text, name) ?? (stated === null ? null : withArticle(stated));
  const sentences = text.split(/(?<=[.!?])\s/).filter((one) => one !== '');
  const about = name === null ? null : saidByOneself(sentences[0] ?? '', name);
  const registerIn = (said: string): Register | undefined => STYLES.find(([, words]) => words.test(said))?.[0];
  const register = registerIn(tones.join(' ')) ?? registerIn(`${text} ${trade ?? ''}`) ?? 'plain';
  return { name, trade, about, facts: sentences.flatMap((one) => factsIn(one, name)), register };
};
