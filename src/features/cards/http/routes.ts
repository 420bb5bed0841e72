import { Type } from '@sinclair/typebox';

import { Semaphore } from '../../../kernel/concurrency/semaphore.js';
import { beginsAsCharx, cardInCharx } from '../charx.js';
import { cardOf } from '../export-card.js';
import { createCardFiles } from '../card-file.js';
import type { MindState } from '../../npcs/domain/state.js';
import { requireMind } from '../../npcs/find-mind.js';
import { beginsAsPng } from '../../../kernel/crypto/png.js';
import { waitForRevision } from '../../../kernel/read-models/read-wait.js';
import type { StreamWriters } from '../../../kernel/streams/stream-writers.js';
import { cardPicture, cardTextIn } from '../card-picture.js';
import { cardExamples as examples } from './examples.js';
import { MAX_WARNINGS, readCard } from '../domain/read-card.js';
import { defined } from '../../../kernel/base/defined.js';
import type { Json, JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { sha256Base64url } from '../../../kernel/crypto/sha256.js';
import type { Ports } from '../../../ports/ports.js';
import { fileName } from '../../../kernel/http/file-name.js';
import {
  type Answer,
  type Call,
  contextOf,
  mindStream,
  ok,
  route,
  type RouteDefinition,
} from '../../../kernel/http/route.js';
import { namesTag } from '../../../kernel/http/entity-tag.js';
import { DEFAULT_BODY_LIMIT, mediaType } from '../../../kernel/http/guard/read-body.js';
import { inSlices } from '../../../kernel/concurrency/in-slices.js';
import { readJsonSlices } from '../../../kernel/base/read-json.js';
import { whyRefused } from '../../../kernel/base/refuse-json.js';
import { minRevision } from '../../../kernel/http/min-revision.js';
import { JSON_TYPE } from '../../../kernel/http/respond.js';
import { named } from '../../../kernel/http/named.js';
import { FreeObject, NpcParams } from '../../../kernel/http/schemas.js';

const PNG = 'image/png';
const ZIP = 'application/zip';
const JPEG = 'image/jpeg';
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/**
 * The maximum number of imports that one process accepts at a time, in total and from one tenant: each body is held in memory, however slowly it
 * arrives.
 */
const IMPORTS = 16;
const TENANT_IMPORTS = 8;
/** The maximum number of imported files in memory while they are sent, in total and to one tenant. */
const DOWNLOADS = 16;
const TENANT_DOWNLOADS = 8;

const Counted = Type.Integer({ minimum: 0 });
const CharacterCard = named(
  'CharacterCard',
  Type.Unsafe<JsonObject>({ ...FreeObject, description: 'A character card, version 1, 2 or 3.' }),
);
const Imported = named(
  'ImportedCard',
  Type.Object({
    npcId: Type.String(),
    created: Type.Boolean({ description: 'Whether this request registered the NPC.' }),
    name: Type.String({ description: 'The name on the card.' }),
    cardVersion: Type.Unsafe<1 | 2 | 3>({ type: 'integer', enum: [1, 2, 3] }),
    persona: Type.Union([Type.String(), Type.Null()]),
    lore: named(
      'ImportedLore',
      Type.Object({
        entries: Counted,
        stored: Type.Integer({ description: 'How many memories this request stored.' }),
        known: Type.Integer({ description: 'How many memories the NPC had already.' }),
        left: Type.Integer({ description: 'How many entries are disabled, have no text or cannot be read.' }),
        disabled: Type.Integer({ description: 'How many of these have a text, but are disabled.' }),
      }),
    ),
    warnings: Type.Array(named('CardWarning', Type.Object({ pointer: Type.String(), message: Type.String() })), {
      description: `Entries that cannot be read: where they are in the card, and why. At most ${String(MAX_WARNINGS)}, and one more if the file was not kept.`,
    }),
  }),
);

const collect = async (bytes: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/**
 * The JSON of the card in a PNG or a CHARX, whichever the bytes are. Those that are neither are refused as what the client called them.
 * @throws Rejection PNG_INVALID, CHARX_INVALID, CARD_MISSING, CARD_INVALID, BODY_TOO_LARGE
 */
const jsonInFile = async (type: string, bytes: Buffer): Promise<Json> => {
  const isPng = beginsAsPng(bytes) || (type === PNG && !beginsAsCharx(bytes));
  const text = await (isPng ? cardTextIn : cardInCharx)(bytes, DEFAULT_BODY_LIMIT);
  try {
    return (await inSlices(readJsonSlices(text))).value;
  } catch (thrown) {
    // The body itself is no JSON, so the refusal must not speak of the body.
    const message = `contains invalid JSON: ${whyRefused(thrown)}`;
    throw new Rejection('CARD_INVALID', { details: { issues: [{ in: 'body', pointer: '', message }] } });
  }
};

const common = { tag: 'NPCs', scope: 'npc', ext: true, params: NpcParams } as const;

/** Headers with which a browser stores a response, and never shows it. */
const asFile = (etag: string, name: string) => ({
  ETag: etag,
  'Content-Disposition': `attachment; filename="${name}"`,
  'X-Content-Type-Options': 'nosniff',
});

type CardRouteDeps = { readonly ports: Ports; readonly writers: StreamWriters };

/** Character cards: `POST|GET /npcs/{npcId}/card`. */
export const cardRoutes = ({ ports, writers }: CardRouteDeps): readonly RouteDefinition[] => {
  const deps = { ...ports, writers };
  const imports = new Semaphore(IMPORTS, TENANT_IMPORTS);
  const downloads = new Semaphore(DOWNLOADS, TENANT_DOWNLOADS);
  const files = createCardFiles({ ...deps, archive: ports.soulArchive });
  /** The imported file; its bytes count as held until they were sent. */
  const sendFile = async (
    call: Pick<Call, 'header' | 'koa' | 'principal'>,
    npcId: string,
    mind: MindState,
  ): Promise<Answer> => {
    const { tenant } = call.principal;
    const { revision } = mind;
    const digest = await files.digestOf({ tenant, npcId }, mind);
    const etag = `"file-${digest}"`;
    if (namesTag(call.header('if-none-match') ?? '', etag)) return { status: 304, revision, headers: { ETag: etag } };
    const release = downloads.acquire(tenant);
    const { res } = call.koa;
    if (res.closed) release();
    else res.once('close', release);
    const { type, extension, content } = await files.read(digest);
    return { revision, headers: asFile(etag, fileName(npcId, extension)), raw: { type, content } };
  };
  return [
    route('POST', '/npcs/:npcId/card', {
      ...common,
      operationId: 'importCard',
      summary: 'Import a character card into an NPC',
      description:
        'A card of version 1, 2 (`chara_card_v2`) or 3 (`chara_card_v3`), or a character of Agnai or Pygmalion, as JSON, in a PNG or in a CHARX, which may stand behind a JPEG. It sets the persona, and its book becomes memories of type `knowledge`. The card and its file are kept. Importing the same file again changes nothing.',
      bytes: [
        { accepts: 'application/json', maxBytes: DEFAULT_BODY_LIMIT, schema: CharacterCard },
        { accepts: PNG, maxBytes: MAX_FILE_BYTES },
        { accepts: ZIP, maxBytes: MAX_FILE_BYTES },
        { accepts: JPEG, maxBytes: MAX_FILE_BYTES },
      ],
      example: examples.card,
      refuses: [
        'MALFORMED_JSON',
        'CONFLICT',
        'EVENTS_TOO_LARGE',
        'CARD_INVALID',
        'CARD_MISSING',
        'PNG_INVALID',
        'CHARX_INVALID',
      ],
      sends: ['Anima-Revision'],
      responses: ok('What the NPC received from the card.', Imported, examples.imported),
      enter: ({ principal }) => imports.acquire(principal.tenant),
      handler: async (call) => {
        const { npcId } = call.params;
        const body = await collect(call.bytes);
        const type = mediaType(call.koa.req);
        const json =
          type === PNG || type === ZIP || type === JPEG
            ? await jsonInFile(type, body)
            : (await inSlices(readJsonSlices(body))).value;
        const { tenant } = call.principal;
        const { revision, position, ...imported } = await files.take(
          { tenant, npcId },
          { card: readCard(json), bytes: body },
          contextOf(call),
        );
        return { revision, position, body: { npcId, ...imported } };
      },
    }),
    route('GET', '/npcs/:npcId/card', {
      ...common,
      operationId: 'exportCard',
      summary: 'Export an NPC as a character card',
      description:
        'The imported card with the current persona, or a new card made from the persona and the knowledge of the NPC. A PNG is one grey pixel that carries the card. The imported file is returned as long as none of its lore was retracted.',
      query: Type.Object({
        version: Type.Optional(
          Type.Unsafe<2 | 3>({
            type: 'integer',
            enum: [2, 3],
            description: 'By default the version of the imported card, or 3.',
          }),
        ),
        format: Type.Optional(
          Type.Unsafe<'json' | 'png' | 'original' | 'file'>({
            type: 'string',
            enum: ['json', 'png', 'original', 'file'],
            default: 'json',
            description:
              '`original` is the JSON of the imported card as it came, whatever `version` says. `file` is the imported file, byte for byte.',
          }),
        ),
      }),
      refuses: ['NPC_NOT_FOUND', 'ARCHIVE_NOT_FOUND', 'CONFLICT'],
      reads: ['Anima-Min-Revision'],
      sends: ['Anima-Revision', 'Content-Disposition'],
      responses: {
        200: { description: 'The card.', schema: CharacterCard, example: examples.card, orType: [PNG, ZIP, JPEG] },
        304: { description: '`If-None-Match` names this card.' },
      },
      handler: async (call) => {
        const { npcId } = call.params;
        const { tenant } = call.principal;
        const { version: asked, format = 'json' } = call.query;
        const minimum = minRevision(call);
        await waitForRevision(ports.events, mindStream(call), minimum);
        const mind = await requireMind(writers, tenant, npcId);
        if (format === 'file') return sendFile(call, npcId, mind);
        const card = await cardOf(
          deps,
          { tenant, npcId },
          mind,
          defined({ asked: format === 'original' ? format : asked, minimum }),
        );
        const text = JSON.stringify(card.content);
        const etag = `"${format}-${sha256Base64url(text)}"`;
        const { revision } = mind;
        if (namesTag(call.header('if-none-match') ?? '', etag))
          return { status: 304, revision, headers: { ETag: etag } };
        const raw = format === 'png' ? { type: PNG, content: cardPicture(card) } : { type: JSON_TYPE, content: text };
        return { revision, headers: asFile(etag, fileName(npcId, format === 'png' ? 'png' : 'json')), raw };
      },
    }),
  ];
};
