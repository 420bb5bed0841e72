import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';

/** The members of a card without `data`: those of V1, and what the application that wrote it calls them. */
export type FlatCard = { readonly members: JsonObject; readonly names: Readonly<Record<string, string>> };

/** What Pygmalion calls the members of V1. */
const PYGMALION = {
  name: 'char_name',
  description: 'char_persona',
  scenario: 'world_scenario',
  first_mes: 'char_greeting',
  mes_example: 'example_dialogue',
} as const;

/** What Agnai calls the members of V1 and V2. Its `description` is a note for people who look for characters. */
const AGNAI = {
  description: 'persona',
  first_mes: 'greeting',
  mes_example: 'sampleChat',
  creator_notes: 'description',
  system_prompt: 'systemPrompt',
  post_history_instructions: 'postHistoryInstructions',
  alternate_greetings: 'alternateGreetings',
  character_version: 'characterVersion',
  character_book: 'characterBook',
} as const;

const hasOwn = (content: JsonObject, ...names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(content, name));

/** Whether this is a character of Agnai. */
export const isAgnai = (content: JsonObject): boolean => {
  if (hasOwn(content, 'first_mes', 'personality', 'mes_example')) return false;
  const { persona } = content;
  const isStructured = isObject(persona) && hasOwn(persona, 'kind', 'attributes');
  return content['kind'] === 'character' || (isStructured && hasOwn(content, 'sampleChat', 'greeting', 'scenario'));
};

/** Whether this is a character of Pygmalion, or of an application that also writes its members. */
export const isPygmalion = (content: JsonObject): boolean => hasOwn(content, 'char_name', 'char_persona');

const isText = (value: Json | undefined): value is string => typeof value === 'string';

/** A persona of Agnai as a text; unchanged if it is none. */
const personaText = (persona: Json | undefined): Json => {
  if (!isObject(persona)) return persona ?? null;
  const { kind, attributes } = persona;
  if (!isObject(attributes)) return persona;
  const lines: string[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    const values: readonly (Json | undefined)[] = Array.isArray(value) ? (value as readonly Json[]) : [value];
    if (!values.every(isText)) return persona;
    // A persona of the kind "text" has one attribute of the same name.
    const isPlain = kind === 'text' || name === 'text';
    if (values.some((text) => text !== '')) lines.push(isPlain ? values.join('\n') : `${name}: ${values.join(', ')}`);
  }
  return lines.join('\n');
};

const agnaiCard = (content: JsonObject): FlatCard => {
  const renamed = new Set<string>(Object.values(AGNAI));
  const kept = Object.entries(content).filter(([name]) => !renamed.has(name));
  const given = Object.entries(AGNAI).flatMap(([name, theirs]) => {
    const value = Object.hasOwn(content, theirs) ? content[theirs] : undefined;
    return value === undefined ? [] : [[name, name === 'description' ? personaText(value) : value] as const];
  });
  return { members: Object.fromEntries([...kept, ...given]), names: AGNAI };
};

/** A card that has the members of V1 and of Pygmalion keeps those of V1, and takes those of Pygmalion in place of empty ones. */
const pygmalionCard = (content: JsonObject): FlatCard => {
  const taken = Object.entries(PYGMALION).filter(([name, theirs]) => {
    const own = Object.hasOwn(content, name) ? content[name] : undefined;
    return Object.hasOwn(content, theirs) && (own === undefined || own === null || own === '');
  });
  const given = taken.map(([name, theirs]) => [name, content[theirs] as Json] as const);
  return { members: { ...content, ...Object.fromEntries(given) }, names: Object.fromEntries(taken) };
};

/** The members of a card without `data` under the names of V1 and V2. */
export const flatCard = (content: JsonObject): FlatCard => {
  if (isAgnai(content)) return agnaiCard(content);
  return isPygmalion(content) ? pygmalionCard(content) : { members: content, names: {} };
};
