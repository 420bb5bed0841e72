import type { CommandContext } from '../base/command-context.js';
import { currentVersion } from '../base/decoder.js';
import { defined } from '../base/defined.js';
import type { EventDraft } from '../base/event-draft.js';
import { jcs, jsonBytes } from '../base/json.js';
import type { Seals } from '../crypto/seals.js';
import { sha256Base64url, sha256Hex } from '../crypto/sha256.js';
import { derivedUuid } from '../crypto/uuid.js';
import type { ProcessMark } from '../../ports/event-store.js';
import type { Fold, Head, StreamEvent } from './fold.js';
import { GENESIS_HASH, hashedText } from './hash-chain.js';

/** A draft with the mark of the process that it belongs to. */
export type DraftToPlace = EventDraft & { readonly process?: ProcessMark };

/**
 * Makes events of drafts, to follow the head of a stream: assigns their revisions, ids, times, hashes and seals.
 * @param now the present time in ISO 8601; time never decreases within a stream
 * @param timeMs leads the ids, in milliseconds since the epoch, so that those of one process insert in order
 * @returns the events, and the size of their data, in characters of JSON
 * @throws Error for a type that these streams do not hold: a programming error
 */
export const placeEvents = (
  drafts: readonly DraftToPlace[],
  {
    stream,
    fold,
    head,
    seals,
  }: {
    readonly stream: string;
    readonly fold: Pick<Fold<unknown>, 'versionOf'>;
    readonly head: Omit<Head<unknown>, 'state'>;
    /** Absent where no secret is at hand; nothing that lacks a seal is signed. */
    readonly seals?: Seals | undefined;
  },
  context: CommandContext,
  { now, timeMs }: { readonly now: string; readonly timeMs: number },
): { readonly events: readonly StreamEvent[]; readonly chars: number } => {
  let { revision, hash } = head;
  const at = now > head.at ? now : head.at;
  let chars = 0;
  const events = drafts.map(({ type, data, process }): StreamEvent => {
    revision += 1;
    const meta = { ...context, schemaVersion: currentVersion(fold, type), at, prevHash: hash };
    const dataText = jcs(data);
    chars += dataText.length;
    const text = hashedText({ stream, revision, type, meta }, dataText);
    // The id covers everything that the hash covers, so that a store that recognises repeats by id can never confuse two versions of an event.
    const id = derivedUuid(timeMs, text.withoutId);
    hash = sha256Hex(text.withId(id));
    const outside = defined({ mac: seals?.of(hash), process });
    return { stream, revision, id, type, data, meta: { ...meta, hash, ...outside } };
  });
  return { events, chars };
};

/** Members of metadata that do not depend on the context. Times, hashes and seals have a fixed length, and no schema version has three digits. */
const FIXED = {
  schemaVersion: 99,
  at: new Date(0).toISOString(),
  prevHash: GENESIS_HASH,
  hash: GENESIS_HASH,
  mac: sha256Base64url(''),
};

/** The metadata of each event recorded in this context, in bytes of JSON. The mark of a process's event is not included. */
export const metaBytes = ({ tenant, actor, commandId, correlationId, causationId }: CommandContext): number =>
  jsonBytes({ tenant, actor, commandId, correlationId, causationId, ...FIXED });
