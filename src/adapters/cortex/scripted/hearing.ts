import { type Language, languageOf } from './language.js';
import { newsIn } from './statements.js';

/** The last utterance or observation, and its kind. */
export type Heard = {
  /** The spoken text, without the speaker; for a narration, the complete text. */
  readonly text: string;
  readonly language: Language;
  /** What it tells in the form of a question; null if it tells nothing so. */
  readonly news: string | null;
  /** The name by which the speaker introduces himself, or null. */
  readonly name: string | null;
  /** Tells of a loss or a harm. */
  readonly mourns: boolean;
  /** Narrated ("The player draws a sword.") instead of said to the NPC. */
  readonly told: boolean;
  readonly greets: boolean;
  readonly thanks: boolean;
  readonly leaves: boolean;
  readonly threatens: boolean;
  readonly gives: boolean;
  /** Offers an exchange. */
  readonly offers: boolean;
  readonly insults: boolean;
  readonly praises: boolean;
  readonly apologises: boolean;
  /** Asks something, or requests information. */
  readonly asks: boolean;
  /** Requests an action. */
  readonly wants: boolean;
};

/** Names that a game gives the person who plays. */
const SOMEBODY =
  '(?:the |a |an )?(?:player|traveller|traveler|stranger|visitor|guest|adventurer|customer|hero|man|woman|user)';
const speaker = new RegExp(`^${SOMEBODY}(?: (?:says?|asks?|replies|shouts?|whispers?|tells? you))?\\s*[:,]\\s*`, 'i');
/** "The player enters.", "Odo has left.", "A big dog barks." */
const toldBegin = new RegExp(
  `^(?:(?:[Tt]he|[Aa]n?|[Ss]ome(?:one|body)?)(?: [a-z][\\w'-]*){0,2}|[Pp]layer|[A-Z][a-z'-]+) (?:has |have |just )*(?:is [a-z]+ing|[a-z]{2,}s|[a-z]{2,}ed)\\b`,
);
/** Words of a speaker about himself, or to a listener. */
const firstPerson = /\b(?:I|I'm|I've|I'll|I'd|me|my|mine|we|us|our)\b/;
const asking =
  /^(?:(?:and|but|so|well|then|now|tell me|please|pray|hey|excuse me|sir|madam|hello|hi|good \w+)[,!.]? )*(?:who|what|whats|when(?= (?:is|are|was|were|do|does|did|can|could|will|would|shall|should|has|have|had)\b)|where|why|how|which|whose|whom|is|are|am|was|were|do|does|did|can|could|will|would|may|might|shall|should|have|has|had|any|anything)\b/i;

const GREETS =
  /^(?:hello|hi|hey|hail|greetings|welcome|well met|howdy|good (?:day|morning|evening|afternoon)|salutations|ho there|guten (?:tag|morgen|abend)|hallo|grüß|sei gegrüßt|seid gegrüßt|servus|moin)(?![\wäöüß])|\b(?:enters|walks in|comes in|arrives|approaches you|greets you|waves at you|knocks)\b/i;
const THANKS =
  /\b(?:thanks|thank you|thank ye|much obliged|my thanks|grateful to you|i appreciate|danke|vielen dank|besten dank)\b|\bthanks you\b/i;
const LEAVES =
  /\b(?:goodbye|good bye|farewell|bye|good ?night|see you|so long|until next time|i must (?:go|leave|be off)|i(?:'ll| will) be going|safe travels|auf wiedersehen|tschüss|tschüß|leb(?:t)? wohl|gute nacht|bis bald|bis morgen)(?![\wäöüß])|^(?:the |a )?\w+ (?:leaves|walks away|walks out|departs)\b/i;
const THREATENS =
  /\b(?:(?:i(?:'ll| will|'m going to| am going to| shall)|i'd) (?:kill|hurt|gut|stab|cut|burn|break|destroy|end|murder|beat|hang|make you (?:pay|bleed|suffer)|(?:have|take) your (?:head|hide|guts|skin|blood|life|scalp))|(?:give|hand|pay|open|drop|yield|surrender|leave|move|tell|stand|kneel|obey|do) [^.?!]{2,80}\bor (?:you(?:'ll| will| shall)? )?die|or (?:else|i(?:'ll| will))|you(?:'re| are) (?:dead|going to die)|your (?:money|purse|coin|gold) or your life|hand (?:it|them|everything) over|die,|prepare to die|this is a robbery|ich (?:bringe|bring) dich um|ich (?:töte|erschlage|erwürge) dich|geld oder leben)\b|\b(?:attacks?|threatens?|strikes?|stabs?|shoots?|lunges? at) you\b|\b(?:draws|raises|swings|points) (?:a|an|his|her|their|the) \w*\s?(?:sword|knife|dagger|blade|axe|bow|gun|weapon|fist|club)/i;
const GIVES =
  /\b(?:(?:here(?:'s| is| are)|take) (?:a|an|this|these|some|your|the|my|two|three|\d+)\b.*\bfor you|this is for you|these are for you|a (?:gift|present) for you|i(?:'ve| have)? (?:brought|bring|got) you|i(?:'d| would)? (?:give|gave|offer|like to give) you|please (?:accept|take) (?:this|these)|have (?:this|these)\b|take this\b)|\b(?:gives?|hands?|offers?|brings?) you\b/i;
const OFFERS =
  /\b(?:i(?:'ll| will|'d| would| can| could| shall) (?:give|pay|bring|offer|hand|lend) you\b.*\b(?:if you|in (?:exchange|return))|if you\b.*\bi(?:'ll| will|'d| would| can| could| shall) (?:give|pay|bring|offer|hand|lend) you)\b/i;
const INSULTS =
  /\b(?:you(?:'re| are)? (?:a |an |such a |the )?(?:\w+ )?(?:fool|idiot|liar|coward|thief|stupid|ugly|useless|worthless|pig|swine|scum|moron|dog|rat|old hag|oaf)|you (?:stupid|filthy|worthless|lying|old) \w+|shut up|idiot|go to hell|your mother was|du (?:dummkopf|idiot|lügner|feigling|dieb|narr|schwein)|halt den mund)\b|\binsults you\b/i;
const PRAISES =
  /\b(?:you(?:'re| are) (?:very |so |too |really |quite )?(?:kind|good|brave|wise|clever|beautiful|generous|wonderful|great|the best|skilled|strong|funny)|well done|good work|nice work|i like (?:you|your)|what a (?:fine|lovely|beautiful|wonderful)|beautiful work|impressive|i admire|du bist (?:sehr |so |wirklich )?(?:nett|freundlich|klug|tapfer|gut|lieb|weise)|gut gemacht)\b/i;
const APOLOGISES =
  /\b(?:sorry|forgive me|my apologies|i apologi[sz]e|pardon me|i beg your pardon|my mistake|es tut mir leid|verzeih\w*|entschuldig\w*)\b/i;
const WANTS =
  /^(?:(?:please|now|then|come|so|well|and),? )*(?:give|hand|sell|lend|hit|strike|beat|shoot|stab|throw|show|open|follow|come|go|take|bring|help|attack|kill|fight|cast|let|make|use|close|unlock|stop|wait|run|teach|heal|buy|serve|fetch|arrest|guard|repair|fix|pass|leave|drop|move|sing|play|dance|read|join|hide|lead|trade|carry|hold|keep)\b|\b(?:could|can|would|will) (?:you|i|we) (?:please |kindly |also |perhaps |just )?(?!tell|say|remember|know)[a-z]+|\bi (?:want|need|would like|'d like|demand|ask you to|order you to)\b|\b(?:asks|orders|begs|tells) (?:you )?(?:for|to)\b|\b(?:kannst|könntest|würdest|willst|kommst|gehst|hilfst|gibst|zeigst|bringst) du\b|^(?:bitte )?(?:gib|hilf|komm|geh|zeig|bring|verkauf|mach)e?\b|\bich (?:will|möchte|brauche|hätte gern)\b/i;
const TELL =
  /\b(?:tell me|talk to me|speak to me|do you (?:know|remember|recall)|remind me|what about|any (?:news|word|rumou?rs?)|i wonder|asks? (?:about|who|what|where|when|why|how|if|whether))\b/i;

/** Introduces a name; the name must be one word with a capital. */
const NAMES =
  /\b(?:[Mm]y name is|I am called|[Cc]all me|[Ii]ch heiße|[Mm]ein Name ist|[Nn]enn mich) (?<name>\p{Lu}[\p{L}'-]{0,30})(?![\p{L}'])/u;
const MOURNS =
  /\b(?:(?:i|we) (?:have |had )?lost|died|burned down|(?:is|are|was|were|been|got) (?:\w+ )?(?:killed|murdered|stolen|bitten|robbed|dead|sick|drowned|wounded)|verloren|gestorben|gebissen|gestohlen|ertrunken|abgebrannt|verletzt)\b/i;

/** The words between the outer quotation marks of a text that narrates speech; null without them. */
const quotedSpeech = (text: string): string | null =>
  /(?:says?|asks?|replies|shouts?|whispers?|tells? you|:|,)\s*["“](.+)["”]\s*\.?$/is.exec(text)?.[1]?.trim() ?? null;

/** Analyses what was said or seen. */
export const hear = (observation: string): Heard => {
  const plain = observation.trim().replaceAll('’', "'");
  const quoted = quotedSpeech(plain);
  const text = (quoted ?? plain.replace(speaker, '')).trim();
  const told = quoted === null && !/\?$/.test(text) && !firstPerson.test(text) && toldBegin.test(text);
  const is = (pattern: RegExp): boolean => pattern.test(text);
  const threatens = is(THREATENS);
  const offers = !threatens && is(OFFERS);
  const wants = is(WANTS) || offers;
  const sentences = text.split(/(?<=[.!?])\s+/);
  const isQuestion = (one: string): boolean => /\?["'”’)]*$/.test(one) || (!told && asking.test(one));
  const news = newsIn(text);
  return {
    text,
    language: languageOf(text),
    news,
    name: NAMES.exec(text)?.groups?.['name'] ?? null,
    mourns: is(MOURNS),
    told,
    greets: is(GREETS),
    thanks: is(THANKS),
    leaves: is(LEAVES),
    threatens,
    offers,
    gives: !threatens && !offers && sentences.some((one) => GIVES.test(one) && !isQuestion(one) && !TELL.test(one)),
    insults: is(INSULTS),
    praises: is(PRAISES),
    apologises: is(APOLOGISES),
    asks: /\?/.test(text) || is(TELL) || sentences.some(isQuestion),
    wants,
  };
};
