import { defined } from '../../../kernel/base/defined.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import { shortDigest } from '../../../kernel/crypto/sha256.js';
import type { NpcEvent } from '../../npcs/domain/events.js';
import { type BroughtMemory, type Commanded, storeMemory } from '../../memory/domain/decide.js';
import type { MindState } from '../../npcs/domain/state.js';
import { lastMemories } from '../../npcs/domain/stored-memories.js';

/** A card in the form that a mind accepts. */
export type BroughtCard = {
  readonly digest: string;
  /** The card exactly as it was sent. */
  readonly content: JsonObject;
  /** Null if the card has none. */
  readonly persona: string | null;
  readonly lore: readonly BroughtMemory[];
  /** The digest of the file that it came in; absent if the file is not kept. */
  readonly file?: string;
};

const none: ReadonlySet<string> = new Set();

/** The card that a mind had when its event was read: its revision, the texts of its lore, and the file that was kept. */
export type EarlierCard = { readonly revision: number; readonly texts: ReadonlySet<string>; readonly file?: string };

/**
 * Imports a character card: the persona, the card itself, and a memory for each lore entry that the mind has not stored yet. Importing the same card
 * again records nothing, unless it is in another file, its memories were cleared or the persona was changed since.
 * @param earlier the mind's card when it was read, null if it had none; refused as CONFLICT if the card has changed in the meantime
 */
export const importCard = (
  mind: MindState,
  { digest, content, persona, lore, file }: BroughtCard,
  earlier: EarlierCard | null,
  by: Commanded,
): readonly NpcEvent[] | Rejection => {
  const { card, memories } = mind;
  const hasLore = card !== null && card.revision > memories.clearedAt;
  const isNew = card?.digest !== digest || !hasLore;
  // Of files of one card that arrive at the same time, the first stays.
  const held = card?.revision === earlier?.revision ? earlier?.file : file;
  const isOtherFile = file !== undefined && file !== held;
  const given = {
    ...(persona === null || persona === mind.persona ? {} : { persona }),
    ...(isNew || isOtherFile ? { card: { digest, content, ...defined({ file }) } } : {}),
  };
  const change = Object.keys(given).length > 0 || mind.archived;
  const changed: readonly NpcEvent[] =
    mind.revision < 0 ? [{ type: 'NpcRegistered', data: given }] : change ? [{ type: 'NpcUpdated', data: given }] : [];
  if (!isNew) return changed;
  if (card !== null && card.revision !== earlier?.revision) {
    return new Rejection('CONFLICT', {
      message: 'Another card was imported at the same time. Try again.',
      retryAfter: 1,
    });
  }
  const digests = new Set(lastMemories(memories).map((memory) => memory.digest));
  const stored = hasLore ? (earlier?.texts ?? none) : none;
  const unknown = new Map(
    lore.flatMap((memory) =>
      stored.has(memory.text) || digests.has(shortDigest(memory.text)) ? [] : [[memory.text, memory] as const],
    ),
  );
  return [
    ...changed,
    ...[...unknown.values()].flatMap((memory, index) =>
      storeMemory(mind, memory, { ...by, commandId: `${by.commandId} ${String(index)}` }),
    ),
  ];
};
