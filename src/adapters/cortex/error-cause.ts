import { isObject, type Json } from '../../kernel/base/json.js';

/** How much of each text of an error is searched, in characters. */
const SEARCHED_CHARS = 300;

/** What an error is about that refuses a prompt for its length. */
export const TOO_LONG = 'prompt too long for its context';

/** What errors of model servers are about: their words, and ours. The first that fits counts. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /context[ _-]?(?:length|window|size)|exceed_context|(?:prompt|input|request) (?:is |was )?too (?:long|large)|too many tokens|string_above_max|token count .{0,40}exceeds|`inputs` tokens \+/i,
    TOO_LONG,
  ],
  [
    /model_?not_?found|\bmodel\b.{0,80}(?:not found|does ?n[o']t exist|not exist|is not (?:available|supported|loaded|valid))|(?:unknown|invalid|no such|unsupported|no) model/i,
    'model not found',
  ],
  [/insufficient_quota|insufficient (?:credit|balance|funds)|\bquota\b|billing|payment required/i, 'no quota left'],
  [/content[ _-]?(?:policy|filter|management)|moderation|flagged/i, 'content filter'],
  [/(?:incorrect|invalid|missing|no) api[ _-]?key|invalid_api_key|unauthorized|authentication/i, 'key refused'],
  [/loading model|model is (?:still |currently )?(?:loading|starting)|currently loading/i, 'model still loading'],
  [/out of memory|more system memory|not enough memory|insufficient memory/i, 'out of memory'],
  [/overloaded|at capacity|server busy|no (?:slots?|workers?|instances?) available/i, 'overloaded'],
];

const textsIn = (error: Json | undefined): readonly string[] => {
  if (typeof error === 'string') return [error];
  if (!isObject(error)) return [];
  const { code, type, message, detail, error: inner } = error;
  return [code, type, message, detail].filter((text) => typeof text === 'string').concat(textsIn(inner).slice(0, 4));
};

/** What an error of a model server is about, in our own words, since its text may repeat the prompt; null if that is not recognised. */
export const causeIn = (error: Json | undefined): string | null => {
  const texts = textsIn(error).map((text) => text.slice(0, SEARCHED_CHARS));
  return CAUSES.find(([words]) => texts.some((text) => words.test(text)))?.[1] ?? null;
};

/** The same of the body of an error. */
export const causeInBody = (body: string): string | null => {
  try {
    return causeIn(JSON.parse(body) as Json);
  } catch {
    return null;
  }
};
