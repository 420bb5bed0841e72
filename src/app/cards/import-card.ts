import { type CharacterCard, type CardVersion, readCard } from '../../domain/card/read-card.js';
import { loreOf } from '../../domain/card/lore.js';
import { personaOf } from '../../domain/card/persona.js';
import { importCard, type EarlierCard } from '../../domain/npc/import-card.js';
import { requireRecordable } from '../../domain/npc/recorded-bytes.js';
import { jsonBytes } from '../../domain/shared/json-bytes.js';
import { jcs } from '../../domain/shared/json.js';
import { Rejection } from '../../domain/shared/rejection.js';
import { sha256Base64url } from '../../domain/shared/sha256.js';
import { mindFold } from '../minds/mind.js';
import { type Command, type CommandDeps, runCommand } from '../streams/run-command.js';
import { cardAt } from './card-at.js';

/** How many memories one card brings at most: an append holds 500 events (contract 1.2). */
const LORE_MEMORIES = 480;
/** What the persona, the card and its memories take together, in bytes of JSON: an append holds 1,000,000. */
const IMPORT_BYTES = 983_040;
/** What an event of a memory has beside the memory, in bytes. */
const AROUND_MEMORY_BYTES = 128;

/** What became of an import (contract 8.9). */
export type ImportedCard = {
  readonly created: boolean;
  readonly name: string;
  readonly cardVersion: CardVersion;
  readonly persona: string | null;
  readonly lore: { readonly entries: number; readonly stored: number; readonly known: number; readonly left: number };
};

const tooMany = (message: string, details: { readonly [name: string]: number }): Rejection =>
  new Rejection('EVENTS_TOO_LARGE', { message, details });

/**
 * Makes a mind what a card says, in one append (contract 8.9).
 * @throws Rejection EVENTS_TOO_LARGE, CONFLICT, and what the event store throws
 */
export const takeCard = async (
  deps: CommandDeps,
  stream: string,
  card: CharacterCard,
  by: Command,
): Promise<ImportedCard & { readonly revision: number; readonly position: number }> => {
  requireRecordable(card.content);
  const persona = personaOf(card);
  const { memories, left } = loreOf(card);
  if (memories.length > LORE_MEMORIES) {
    throw tooMany(
      `The book of this card makes ${String(memories.length)} memories; one import stores at most ${String(LORE_MEMORIES)}. Switch entries off, or split the book.`,
      { memories: memories.length, limitMemories: LORE_MEMORIES },
    );
  }
  const bytes = jsonBytes([card.content, persona, memories]) + memories.length * AROUND_MEMORY_BYTES;
  if (bytes > IMPORT_BYTES) {
    throw tooMany(
      `With its memories this card takes ${String(bytes)} bytes of JSON to record; at most ${String(IMPORT_BYTES)} can be recorded at once.`,
      { bytes, limitBytes: IMPORT_BYTES },
    );
  }
  const brought = { digest: sha256Base64url(jcs(card.content)), content: card.content, persona, lore: memories };
  const earlier = await earlierCard(deps, stream, brought.digest);
  const commanded = { timeMs: deps.clock.now().getTime(), commandId: by.commandId };
  const { events, state, revision, position } = await runCommand(deps, stream, mindFold, by, (mind) =>
    importCard(mind, brought, earlier, commanded),
  );
  const stored = events.filter(({ type }) => type === 'MemoryStored').length;
  return {
    created: events.some(({ type }) => type === 'NpcRegistered'),
    name: card.name,
    cardVersion: card.version,
    persona: state.persona,
    lore: { entries: card.entries.length, stored, known: memories.length - stored, left },
    revision,
    position,
  };
};

/** The lore that came with the card that the mind has; null when it has none, or this very one. */
const earlierCard = async (deps: CommandDeps, stream: string, digest: string): Promise<EarlierCard | null> => {
  const { card } = (await deps.lanes.current(stream, mindFold)).state;
  if (card === null) return null;
  const { revision } = card;
  const earlier = card.digest === digest ? null : readCard(await cardAt(deps.events, stream, revision));
  return { revision, texts: new Set(earlier === null ? [] : loreOf(earlier).memories.map(({ text }) => text)) };
};
