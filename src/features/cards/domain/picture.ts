import type { Json } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { forOldReaders } from './card-versions.js';
import { type PngChunk, pngChunks, pngOf } from '../../../kernel/crypto/png.js';
import type { CharacterCard } from './read-card.js';

/** The keywords of the texts that hold a card, in order of precedence. Readers ignore case. */
const KEYWORDS = ['ccv3', 'chara'] as const;
type Keyword = (typeof KEYWORDS)[number];
/** A keyword has at most 79 bytes and ends with a zero (W3C PNG, section 11.3.3). */
const KEYWORD_BYTES = 80;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** One grey pixel; the compressed bytes are literal so that the same card gives the same file with every version of zlib. */
const ONE_PIXEL: readonly PngChunk[] = [
  { type: 'IHDR', data: Buffer.from('00000001000000010800000000', 'hex') },
  { type: 'IDAT', data: Buffer.from('789c6368000000820081', 'hex') },
  { type: 'IEND', data: Buffer.alloc(0) },
];

const keywordOf = ({ type, data }: PngChunk): Keyword | undefined => {
  if (!/^(tEXt|iTXt|zTXt)$/.test(type)) return undefined;
  const beginning = Buffer.from(data.subarray(0, KEYWORD_BYTES)).toString('latin1');
  const keyword = beginning.slice(0, Math.max(0, beginning.indexOf('\0'))).toLowerCase();
  return KEYWORDS.find((known) => known === keyword);
};

/**
 * The JSON of the card in a PNG, as unparsed bytes of UTF-8: from `ccv3`, otherwise from `chara`; the first if there are several. Chunks other than
 * `tEXt` are not read; they matter only if no other holds a card.
 * @param maxBytes of the JSON
 * @throws Rejection PNG_INVALID, CARD_MISSING, BODY_TOO_LARGE
 */
export const cardTextIn = (png: Uint8Array, maxBytes: number): Buffer => {
  const texts = pngChunks(png).filter((chunk) => keywordOf(chunk) !== undefined);
  const [first] = texts;
  if (first === undefined) throw new Rejection('CARD_MISSING');
  const plain = texts.filter(({ type }) => type === 'tEXt');
  const [keyword] = KEYWORDS.filter((wanted) => plain.some((chunk) => keywordOf(chunk) === wanted));
  const chunk = plain.find((text) => keywordOf(text) === keyword);
  if (keyword === undefined || chunk === undefined) {
    throw new Rejection('PNG_INVALID', {
      details: { reason: `The card is in a ${first.type} chunk; it must be in an uncompressed tEXt chunk.` },
    });
  }
  const tooLarge = (): Rejection =>
    new Rejection('BODY_TOO_LARGE', {
      message: `The card in this picture has more than ${String(maxBytes)} bytes of JSON.`,
      details: { limitBytes: maxBytes },
    });
  // Before it is decoded: in base64 three bytes take four, and some writers add line breaks.
  if (chunk.data.length > 2 * maxBytes) throw tooLarge();
  const text = Buffer.from(chunk.data.subarray(keyword.length + 1))
    .toString('latin1')
    .replace(/\s/g, '');
  if (!BASE64.test(text)) {
    throw new Rejection('PNG_INVALID', { details: { reason: `The text of the chunk ${keyword} is not base64.` } });
  }
  const json = Buffer.from(text, 'base64');
  if (json.length <= maxBytes) return json;
  throw tooLarge();
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
  const kept = chunks.filter((chunk) => keywordOf(chunk) === undefined);
  return pngOf([...kept.slice(0, -1), ...texts, ...kept.slice(-1)]);
};

/**
 * A card in a picture, where readers look for it: V2 in `chara`; V3 in `ccv3`, and for older readers as V2 in `chara`.
 * @param picture a PNG; one grey pixel if absent
 * @throws Rejection PNG_INVALID
 */
export const cardPicture = (card: Pick<CharacterCard, 'version' | 'content'>, picture?: Uint8Array): Buffer =>
  withCards(card.version === 3 ? { ccv3: card.content, chara: forOldReaders(card) } : { chara: card.content }, picture);
