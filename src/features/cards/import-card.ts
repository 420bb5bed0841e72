import { type CardVersion, type CardWarning, type CharacterCard, readRecordedCard } from './domain/read-card.js';
import { LORE_MEMORIES, loreOf } from './domain/lore.js';
import { charsWithNames, personaOf } from './domain/persona.js';
import { importCard, type EarlierCard } from './domain/decide.js';
import type { BroughtMemory } from '../memory/domain/decide.js';
import { APPEND_BYTES, EVENT_BYTES } from '../../kernel/streams/append-size.js';
import type { CommandContext } from '../../kernel/base/command-context.js';
import { defined } from '../../kernel/base/defined.js';
import { jsonBytes } from '../../kernel/base/json.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { yieldToEventLoop } from '../../kernel/concurrency/yield-to-event-loop.js';
import { npcEvents } from '../npcs/domain/events.js';
import type { StreamEvent } from '../../kernel/streams/fold.js';
import { mindFold } from '../npcs/mind-fold.js';
import { metaBytes } from '../../kernel/streams/place-events.js';
import { type Command, type CommandDeps, runCommand } from '../../kernel/streams/run-command.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { jcsSlices } from '../../kernel/base/jcs-slices.js';
import { sha256Base64url } from '../../kernel/crypto/sha256.js';
import { cardAt } from './card-at.js';
import { takeRecordable } from '../../kernel/streams/take-recordable.js';

/**
 * The size of the event with the card in addition to persona, card and metadata, in bytes: names of members, both digests, and its type, which counts
 * twice.
 */
const AROUND_CARD_BYTES = 216;
/** The same for an event with a memory, which has an id. */
const AROUND_MEMORY_BYTES = 80;

/** The result of an import. */
export type ImportedCard = {
  readonly created: boolean;
  readonly name: string;
  readonly cardVersion: CardVersion;
  readonly persona: string | null;
  readonly lore: {
    readonly entries: number;
    readonly stored: number;
    readonly known: number;
    readonly left: number;
    readonly disabled: number;
  };
  readonly warnings: readonly CardWarning[];
};

const tooMany = (message: string, details: { readonly [name: string]: number }): Rejection =>
  new Rejection('EVENTS_TOO_LARGE', { message, details });

/**
 * A name may be much longer than the macro that it replaces. Texts that would become too large to record are refused before any of them is made.
 * @throws Rejection EVENTS_TOO_LARGE
 */
const requireModestMacros = (card: CharacterCard): void => {
  const { description, personality, scenario, systemPrompt, entries } = card;
  const book = entries.flatMap(({ enabled, content }) => (enabled && content !== '' ? [content] : []));
  const texts = [description, personality, scenario, systemPrompt, ...book];
  const chars = texts.reduce((sum, text) => sum + charsWithNames(text, card), 0);
  if (chars <= APPEND_BYTES) return;
  throw tooMany(
    `After macro replacement, the texts of this card have ${String(chars)} characters. At most ${String(APPEND_BYTES)} bytes of JSON can be recorded in one request.`,
    { chars, limitBytes: APPEND_BYTES },
  );
};

/**
 * The persona and the card are in one event, and each memory is in another one, all in one append.
 * @throws Rejection EVENTS_TOO_LARGE
 */
const requireRoom = (
  { content }: CharacterCard,
  persona: string | null,
  memories: readonly BroughtMemory[],
  by: CommandContext,
): void => {
  const own = jsonBytes([content, persona]);
  if (own + AROUND_CARD_BYTES > EVENT_BYTES) {
    throw tooMany(
      `This card and its persona take ${String(own)} bytes of JSON. At most ${String(EVENT_BYTES)} can be recorded in one event.`,
      { bytes: own, limitBytes: EVENT_BYTES },
    );
  }
  const around = AROUND_CARD_BYTES + memories.length * AROUND_MEMORY_BYTES + (1 + memories.length) * metaBytes(by);
  const bytes = own + jsonBytes(memories) + around;
  if (bytes <= APPEND_BYTES) return;
  throw tooMany(
    `This card and its memories take ${String(bytes)} bytes to record. At most ${String(APPEND_BYTES)} can be recorded in one request.`,
    { bytes, limitBytes: APPEND_BYTES },
  );
};

/** An import as it was recorded. `replaced`: the file of the earlier card, if that card is no longer the mind's. */
export type TakenCard = ImportedCard & {
  readonly revision: number;
  readonly position: number;
  readonly replaced?: string;
};

const bringsCard = (event: StreamEvent): boolean => {
  const { type, data } = npcEvents.decode(event);
  return (type === 'NpcRegistered' || type === 'NpcUpdated') && data.card !== undefined;
};

/**
 * Imports a card into a mind, in one append.
 * @param file the digest of the file that it came in, if the file is kept
 * @throws Rejection EVENTS_TOO_LARGE, CONFLICT, and what the event store throws
 */
export const takeCard = async (
  deps: CommandDeps,
  stream: string,
  card: CharacterCard,
  by: Command,
  file?: string,
): Promise<TakenCard> => {
  await takeRecordable(card.content);
  requireModestMacros(card);
  const persona = personaOf(card);
  const { memories, left, disabled } = loreOf(card);
  await yieldToEventLoop();
  if (memories.length > LORE_MEMORIES) {
    throw tooMany(
      `The book of this card would store more than ${String(LORE_MEMORIES)} memories, the limit of one import. Disable some entries, or split the book.`,
      { limitMemories: LORE_MEMORIES },
    );
  }
  requireRoom(card, persona, memories, by);
  await yieldToEventLoop();
  const digest = sha256Base64url(await inSlices(jcsSlices(card.content)));
  const brought = { digest, content: card.content, persona, lore: memories, ...defined({ file }) };
  const earlier = await earlierCard(deps, stream, brought.digest);
  const commanded = { timeMs: deps.clock.now().getTime(), commandId: by.commandId };
  const { events, state, revision, position } = await runCommand(deps, stream, mindFold, by, (mind) =>
    importCard(mind, brought, earlier, commanded),
  );
  const stored = events.filter(({ type }) => type === 'MemoryStored').length;
  // Repeated texts in a book are one memory.
  const texts = new Set(memories.map(({ text }) => text)).size;
  return {
    created: events.some(({ type }) => type === 'NpcRegistered'),
    name: card.name,
    cardVersion: card.version,
    persona: state.persona,
    lore: { entries: card.entries.length, stored, known: texts - stored, left, disabled },
    warnings: card.warnings,
    revision,
    position,
    ...defined({ replaced: events.some(bringsCard) ? earlier?.file : undefined }),
  };
};

/** The card that the mind has, without texts if it is this same card; null if it has none. */
const earlierCard = async (deps: CommandDeps, stream: string, digest: string): Promise<EarlierCard | null> => {
  const { card } = (await deps.writers.current(stream, mindFold)).state;
  if (card === null) return null;
  const { revision } = card;
  const { content, file } = await cardAt(deps.events, stream, revision);
  const lore = card.digest === digest ? [] : loreOf(readRecordedCard(content)).memories;
  return { revision, texts: new Set(lore.map(({ text }) => text)), ...defined({ file }) };
};
