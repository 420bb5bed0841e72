import type { Json } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { cardTooLarge } from './card-too-large.js';
import { forOldReaders } from './domain/card-versions.js';
import { type PngChunk, pngChunks, pngOf } from '../../kernel/crypto/png.js';
import type { CharacterCard } from './domain/read-card.js';
import { keywordOf, TEXT_TYPES, textOfChunk } from './text-chunk.js';

/** The keywords of the texts that hold a card, in order of precedence. */
const KEYWORDS = ['ccv3', 'chara'] as const;
type Keyword = (typeof KEYWORDS)[number];
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** One grey pixel; the compressed bytes are literal so that the same card gives the same file with every version of zlib. */
const ONE_PIXEL: readonly PngChunk[] = [
  { type: 'IHDR', data: Buffer.from('00000001000000010800000000', 'hex') },
  { type: 'IDAT', data: Buffer.from('789c6368000000820081', 'hex') },
  { type: 'IEND', data: Buffer.alloc(0) },
];

const isCard = (chunk: PngChunk): boolean => {
  const keyword = keywordOf(chunk);
  return KEYWORDS.some((known) => known === keyword);
};

/** The chunks that may hold a card, the preferred ones first: one of each keyword and kind, so that few are ever decompressed. */
const cardChunks = (png: Uint8Array): readonly { readonly keyword: Keyword; readonly chunk: PngChunk }[] => {
  const chunks = pngChunks(png).map((chunk) => ({ chunk, keyword: keywordOf(chunk) }));
  return KEYWORDS.flatMap((keyword) =>
    TEXT_TYPES.flatMap((type) => {
      const found = chunks.find((one) => one.keyword === keyword && one.chunk.type === type);
      return found === undefined ? [] : [{ keyword, chunk: found.chunk }];
    }),
  );
};

/** @throws Rejection PNG_INVALID, BODY_TOO_LARGE */
const jsonInChunk = async (keyword: Keyword, chunk: PngChunk, maxBytes: number): Promise<Buffer> => {
  // In base64 three bytes take four, and some writers add line breaks.
  const bytes = await textOfChunk(chunk, 2 * maxBytes);
  if (bytes === undefined) throw cardTooLarge('picture', maxBytes);
  const text = bytes.toString('latin1').replace(/\s/g, '');
  // Some writers leave out base64 in a compressed chunk.
  const isPlain = text.startsWith('{') && chunk.type !== 'tEXt';
  if (!isPlain && !BASE64.test(text)) {
    throw new Rejection('PNG_INVALID', { details: { reason: `The text of the chunk ${keyword} is not base64.` } });
  }
  const json = isPlain ? bytes : Buffer.from(text, 'base64');
  if (json.length <= maxBytes) return json;
  throw cardTooLarge('picture', maxBytes);
};

/**
 * The JSON of the card in a PNG, as unparsed bytes of UTF-8: from `ccv3`, otherwise from `chara`; the first if there are several. A chunk that cannot
 * be read matters only if no other holds a card.
 * @param maxBytes of the JSON
 * @throws Rejection PNG_INVALID, CARD_MISSING, BODY_TOO_LARGE
 */
export const cardTextIn = async (png: Uint8Array, maxBytes: number): Promise<Buffer> => {
  let first: Rejection | undefined;
  for (const { keyword, chunk } of cardChunks(png)) {
    try {
      return await jsonInChunk(keyword, chunk, maxBytes);
    } catch (thrown) {
      if (!(thrown instanceof Rejection)) throw thrown;
      first ??= thrown;
    }
  }
  throw first ?? new Rejection('CARD_MISSING');
};

/**
 * A picture with these cards, replacing any that it has.
 * @param picture a PNG; one grey pixel if absent
 * @throws Rejection PNG_INVALID
 */
export const withCards = (cards: Partial<Readonly<Record<Keyword, Json>>>, picture?: Uint8Array): Buffer => {
  const chunks = picture === undefined ? ONE_PIXEL : pngChunks(picture);
  const texts = Object.entries(cards).map(([keyword, card]) => ({
    type: 'tEXt',
    data: Buffer.from(`${keyword}\0${Buffer.from(JSON.stringify(card)).toString('base64')}`, 'latin1'),
  }));
  const kept = chunks.filter((chunk) => !isCard(chunk));
  return pngOf([...kept.slice(0, -1), ...texts, ...kept.slice(-1)]);
};

/**
 * A card in a picture, where readers look for it: V2 in `chara`; V3 in `ccv3`, and for older readers as V2 in `chara`.
 * @param picture a PNG; one grey pixel if absent
 * @throws Rejection PNG_INVALID
 */
export const cardPicture = (card: Pick<CharacterCard, 'version' | 'content'>, picture?: Uint8Array): Buffer =>
  withCards(card.version === 3 ? { ccv3: card.content, chara: forOldReaders(card) } : { chara: card.content }, picture);
