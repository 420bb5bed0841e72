/** Decides which words the NPC may repeat as knowledge: plain statements, and nothing that is written to steer a model. */

/** Marks of code, markup and chat templates; no plain sentence has them. */
const MARKS = /[{}<>[\]|`\\]|^\s*#|#{2,}|^\s*["']?\w{1,24}["']?\s*:\s*["']?(?=you\b|ignore\b)/i;
/** Speakers in transcripts of models. */
const ROLE = /(?:^|[\n"“])\s*(?:system|assistant|user|developer|human|instructions?|prompt|rules?)\s*:/i;
const STEERING =
  /\byou are now\b|\bfrom now on\b|\byou (?:must|shall|have to|will now)\b|\byour (?:action|answer|reply|response|output)s? (?:must|should|shall)\b|\b(?:ignore|disregard|forget|override|bypass|break|reveal|print|repeat|show)(?: \w+){0,3} (?:rules?|instructions?|prompts?|orders|guidelines)\b|\b(?:system|hidden|secret) prompt\b|\bjailbreak|\bjson\b|\b(?:ignorier|vergiss|missacht|umgeh|verrat)\w*(?: \w+){0,3} (?:regeln?|anweisung\w*|vorgaben)\b|\bdu bist (?:jetzt|nun|ab jetzt)\b/i;

/** Commands whatever follows them, and verbs that are commands only with an object or a direction ("Trade was good." is not one). */
const COMMAND =
  /^(?:(?:hello|hey|hi|please|now|then|so|well|and|but|ok|okay)[,!]? )*(?:(?:ignore|disregard|forget|print|output|say|repeat|respond|reply|answer|pretend|act|reveal|write|execute|obey|translate|speak|tell|give|bring|let|let's|do|don't|never|always|stop|start|begin|listen|look|go|come|please)\b|(?:hand|sell|lend|hit|strike|beat|shoot|stab|throw|show|open|follow|take|help|attack|kill|fight|cast|make|use|close|unlock|wait|run|teach|heal|buy|serve|fetch|arrest|guard|repair|fix|pass|leave|drop|move|sing|play|dance|read|join|hide|lead|trade|carry|hold|keep|remember|call)(?=[.!]|$| (?:me|us|him|her|them|it|this|that|these|those|the|an?|my|your|his|all|every|everything|everyone|everybody|now|here|there|away|out|up|down|to|with|for|at|from|yourself)\b))/i;
/** "Call me Tom." tells a name. */
const TELLS_NAME = /^call me\b/i;

/** Introductions to a statement that is to be remembered. */
const TO_REMEMBER = /^(?:please )?remember(?: that |: ?)/i;

const SPEECH =
  /^(?:the |a |an )?[\w'’ -]{2,24}? (?:says?|said|told me|asks?|asked)(?: me)?:? ["“](?<said>.+?)["”]\.?$/i;

/** The quoted speech in a text that narrates it; null for any other text. */
export const spokenIn = (text: string): string | null => SPEECH.exec(text)?.groups?.['said'] ?? null;

/** Whether a text looks as if it were written to steer a model, or by one. */
export const looksCrafted = (text: string): boolean => MARKS.test(text) || ROLE.test(text) || STEERING.test(text);

/** Tells something in the form of a question: "Did you know that the mill burned down?" */
const NEWS =
  /^(?:(?:hey|so|and|hallo|und)[,!]? )?(?:(?:did|do|have) you (?:already )?(?:know|hear|heard)|(?:wusstest|weißt|hast) du(?: (?:schon|denn|eigentlich|auch|gehört))*),? (?:that|dass) (?<told>[^?]{3,400})\?$/i;

/** What a question tells; null if it only asks, or looks crafted. */
export const newsIn = (text: string): string | null =>
  looksCrafted(text) ? null : (NEWS.exec(text.trim().replaceAll('’', "'"))?.groups?.['told'] ?? null);

const isStatement = (sentence: string): boolean =>
  !/\?["'”’)]*$/.test(sentence) && (TELLS_NAME.test(sentence) || !COMMAND.test(sentence.replaceAll('’', "'")));

/** The sentences of a text that only state something; empty if there are none, or if anything in it looks crafted. */
export const statementsIn = (text: string): string => {
  if (looksCrafted(text)) return '';
  const trimmed = text.trim();
  const spoken = spokenIn(trimmed);
  if (spoken !== null) return statementsIn(spoken) === spoken ? trimmed : '';
  return trimmed
    .split(/(?<=[.!?])\s+/)
    .map((one) => one.replace(TO_REMEMBER, ''))
    .filter(isStatement)
    .join(' ');
};
