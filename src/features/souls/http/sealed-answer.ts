import type { OpenPayload, ShownPayloads } from '../shown-payloads.js';
import type { SealedPayloads } from '../sealed-payloads.js';
import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import type { SoulDocument } from '../domain/document.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { base64Of, piecesOf } from './pieces.js';
import { JSON_TYPE } from '../../../kernel/http/respond.js';
import type { Chunk, StreamedAnswer } from '../../../kernel/http/route.js';
import { protocolSoulText } from './soul-answer.js';

/** Where to upload a payload and with which authorisation, without the payload itself. */
export type UploadInstruction = {
  readonly auiEndpoint: string;
  readonly auiContentType: string;
  readonly auiAuthHeader: string;
};

/** Which sealed payload is answered, and to whom. */
export type SealedQuery = { readonly digest: string; readonly tenant: string };

/**
 * The sealed payload with this digest. It is staged until its export's deadline, and stays once it is public.
 * @throws Rejection SOUL_EXCHANGE_EXPIRED when it no longer exists, BUSY; errors from the archive
 */
const opened = async (payloads: ShownPayloads, { digest, tenant }: SealedQuery): Promise<OpenPayload> => {
  const payload = await payloads.open(digest, tenant);
  if (payload === null) throw new Rejection('SOUL_EXCHANGE_EXPIRED');
  return payload;
};

/** JSON text, written around payloads that are JSON text or base64 already: they are neither parsed nor copied. */
const streamed = (chunks: () => AsyncGenerator<Chunk, void>): StreamedAnswer => ({ type: JSON_TYPE, chunks });

/** An object's text, open for one more member. */
const openText = (object: object): string => JSON.stringify(object).slice(0, -1);

/** The answer of an export's first phase, which contains the document twice. */
export const firstPhase = (
  { json }: SealedPayloads,
  asked: SealedQuery,
  instruction: UploadInstruction,
  signature: string,
): StreamedAnswer =>
  streamed(async function* () {
    const { bytes, close } = await opened(json, asked);
    try {
      yield `{"se1Instruction":${openText(instruction)},"auiPayload":`;
      yield* piecesOf(bytes);
      yield '},"se1SignedPayload":';
      yield* piecesOf(bytes);
      yield `,"se1Signature":${JSON.stringify(signature)}}`;
    } finally {
      close();
    }
  });

/** The answer of an export's second phase: the document as the protocol family shows it. */
export const secondPhase = async (
  document: SoulDocument,
  signature: string,
  { txId, url }: { readonly txId: string; readonly url: string },
): Promise<StreamedAnswer> => {
  const soul = Buffer.from(await inSlices(protocolSoulText(document)));
  return streamed(async function* () {
    yield `${openText({ txId, arweaveUrl: url, signature })},"soul":`;
    yield* piecesOf(soul);
    yield '}';
  });
};

/** The answer of an export in one request. In binary form, the document contains the CBOR document in base64. */
export const soulAtOnce = (
  { json, binary }: SealedPayloads,
  asked: SealedQuery,
  format: 'json' | 'binary',
): StreamedAnswer =>
  streamed(async function* () {
    const { bytes, close } = await opened(json, asked);
    let cbor: OpenPayload | null = null;
    try {
      if (format === 'binary') cbor = await opened(binary, asked);
      yield `{"format":"${format}","storage":"local","soul":`;
      if (cbor === null) yield* piecesOf(bytes);
      else {
        yield* piecesOf(bytes.subarray(0, -1));
        yield ',"binary":"';
        yield* base64Of(cbor.bytes);
        yield '"}';
      }
      yield '}';
    } finally {
      close();
      cbor?.close();
    }
  });
