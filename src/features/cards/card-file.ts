import { payloadDigest } from '../../kernel/crypto/content-digest.js';
import type { MindState } from '../npcs/domain/state.js';
import { mindFold } from '../npcs/mind-fold.js';
import { inSlices } from '../../kernel/concurrency/in-slices.js';
import { beginsAsPng } from '../../kernel/crypto/png.js';
import { shortDigest } from '../../kernel/crypto/sha256.js';
import { Rejection } from '../../kernel/base/rejection.js';
import { npcStream } from '../../kernel/base/stream-names.js';
import type { Command, CommandDeps } from '../../kernel/streams/run-command.js';
import type { ReadModels } from '../../ports/read-models.js';
import type { SoulArchive } from '../../ports/soul-archive.js';
import { cardAt } from './card-at.js';
import { beginsAsCharx, beginsAsJpeg } from './charx.js';
import { withoutLore } from './domain/without-lore.js';
import { type CardWarning, type CharacterCard, readRecordedCard } from './domain/read-card.js';
import { takeCard, type TakenCard } from './import-card.js';
import { retractedLore } from './retracted-lore.js';

/** Bytes of all files that are kept for a tenant. */
export const TENANT_FILE_BYTES = 1024 * 1024 * 1024;
/** How long a count of these bytes is used, in milliseconds: to count them, the archive looks at every file. And of how many tenants. */
const COUNTED_MS = 60_000;
const COUNTED_TENANTS = 1_000;
/** How long a file is kept that no event names yet, in milliseconds. */
const UNNAMED_MS = 3_600_000;
/** The latest representable moment: files are never swept. */
const FOR_GOOD = new Date(8_640_000_000_000_000);

/** The archive owner of a tenant's files, separate from its souls and levels. */
const ownersOf = (tenant: string): string => `CARDS-${shortDigest(tenant)}`;
type Subject = { readonly tenant: string; readonly npcId: string };
/** Each NPC has its own copy, so that a file can be dropped without affecting the same file of other NPCs. */
const ownerOf = ({ tenant, npcId }: Subject): string => `${ownersOf(tenant)}-${shortDigest(npcId)}`;

const notKept = (message: string): Rejection => new Rejection('ARCHIVE_NOT_FOUND', { message });
const retracted = (): Rejection =>
  new Rejection('CONFLICT', {
    message:
      'Lore of this card was retracted, so the file that it came in is no longer returned. Use format=original, which leaves out that lore.',
  });
const noRoom: CardWarning = {
  pointer: '',
  message: `is in a file that was not kept: the files of a tenant may have about ${String(TENANT_FILE_BYTES)} bytes together`,
};

/** The type of a kept file, by its bytes, and the extension of its name. */
const kindOf = (bytes: Uint8Array): { readonly type: string; readonly extension: string } => {
  if (beginsAsPng(bytes)) return { type: 'image/png', extension: 'png' };
  if (beginsAsJpeg(bytes)) return { type: 'image/jpeg', extension: 'jpeg' };
  if (beginsAsCharx(bytes)) return { type: 'application/zip', extension: 'charx' };
  return { type: 'application/json', extension: 'json' };
};

export type CardFileDeps = CommandDeps & {
  readonly readModels: ReadModels;
  readonly archive: Pick<SoulArchive, 'stage' | 'read' | 'stagedBytes' | 'unstage'>;
};

/** A file as it was imported. */
export type CardFile = { readonly type: string; readonly extension: string; readonly content: Uint8Array };

/** The files that cards were imported from. Each mind keeps the one of its card; it is never public. */
export type CardFiles = {
  /**
   * Imports a card and keeps its file. Without room for the file, only the card is imported, with a warning.
   * @throws Rejection as `takeCard`; what the archive throws
   */
  take(
    subject: Subject,
    brought: { readonly card: CharacterCard; readonly bytes: Uint8Array },
    by: Command,
  ): Promise<Omit<TakenCard, 'replaced'>>;
  /**
   * The digest of the file of a mind's card.
   * @throws Rejection ARCHIVE_NOT_FOUND without one, CONFLICT after lore of a card was retracted, READ_MODEL_BEHIND
   */
  digestOf(subject: Subject, mind: MindState): Promise<string>;
  /** @throws Rejection ARCHIVE_NOT_FOUND if the archive has lost it */
  read(digest: string): Promise<CardFile>;
};

export const createCardFiles = (deps: CardFileDeps): CardFiles => {
  const { archive, clock, events, readModels, writers } = deps;
  /** The digest of the file that the mind's last card came in, if it was kept. */
  const fileOf = async (stream: string): Promise<string | undefined> => {
    const { card } = (await writers.current(stream, mindFold)).state;
    return card === null ? undefined : (await cardAt(events, stream, card.revision)).file;
  };
  /** Drops a file that the mind's last card did not come in. An import that names it again at the same time stores it again. */
  const drop = async (subject: Subject, digest: string | undefined): Promise<void> => {
    if (digest === undefined) return;
    const stream = npcStream(subject.tenant, subject.npcId);
    const owner = { tenant: ownerOf(subject) };
    if ((await fileOf(stream)) === digest) return;
    const content = await archive.read(digest);
    await archive.unstage(digest, owner);
    if (content !== null && (await fileOf(stream)) === digest)
      await archive.stage(digest, content, { ...owner, expiresAt: FOR_GOOD });
  };
  const counts = new Map<string, { readonly bytes: number; readonly untilMs: number }>();
  /** Other processes may add files after a count, so the limit may be exceeded by what they take in a minute. */
  const hasRoom = async (tenant: string, bytes: number): Promise<boolean> => {
    const nowMs = clock.now().getTime();
    const known = counts.get(tenant);
    // What was replaced since still counts: only a new count says that there is no room.
    const isFresh = known !== undefined && nowMs < known.untilMs && known.bytes + bytes <= TENANT_FILE_BYTES;
    const counted = isFresh
      ? known
      : { bytes: await archive.stagedBytes(ownersOf(tenant), ownersOf(tenant)), untilMs: nowMs + COUNTED_MS };
    const after = { ...counted, bytes: counted.bytes + bytes };
    if (after.bytes > TENANT_FILE_BYTES) return false;
    if (counts.size >= COUNTED_TENANTS) counts.clear();
    counts.set(tenant, after);
    return true;
  };
  return {
    take: async (subject, { card, bytes }, by) => {
      const stream = npcStream(subject.tenant, subject.npcId);
      const owner = { tenant: ownerOf(subject) };
      const digest = await inSlices(payloadDigest(bytes));
      const before = await fileOf(stream);
      if (before !== digest && !(await hasRoom(subject.tenant, bytes.length))) {
        const { replaced, ...taken } = await takeCard(deps, stream, card, by);
        await drop(subject, replaced);
        return { ...taken, warnings: [...taken.warnings, noRoom] };
      }
      // It is stored before an event names it, and kept for good only after that. A lost file is stored again.
      await archive.stage(digest, bytes, { ...owner, expiresAt: new Date(clock.now().getTime() + UNNAMED_MS) });
      const { replaced, ...taken } = await takeCard(deps, stream, card, by, digest).catch(async (thrown: unknown) => {
        const isTooLarge = thrown instanceof Rejection && thrown.code === 'EVENTS_TOO_LARGE';
        // Its card can never be imported.
        if (isTooLarge) await archive.unstage(digest, owner);
        throw thrown;
      });
      if (replaced !== digest) await drop(subject, replaced);
      if ((await fileOf(stream)) !== digest) return taken;
      await archive.stage(digest, bytes, { ...owner, expiresAt: FOR_GOOD });
      // Another import may have replaced it in the meantime.
      await drop(subject, digest);
      return taken;
    },
    digestOf: async ({ tenant, npcId }, mind) => {
      const stream = npcStream(tenant, npcId);
      if (mind.card === null) throw notKept('No card was imported into this NPC, so there is no file of one.');
      const { content, file } = await cardAt(events, stream, mind.card.revision);
      if (file === undefined) {
        throw notKept('The file that this card came in was not kept. Import it again to keep it.');
      }
      const recorded = readRecordedCard(content);
      const { texts, ofCards } = await retractedLore(readModels, stream, mind, recorded);
      // A file may hold more than the card that was read from it, such as an older card in another chunk.
      if (ofCards || withoutLore(recorded, texts) !== recorded) throw retracted();
      return file;
    },
    read: async (digest) => {
      const content = await archive.read(digest);
      if (content === null) throw notKept('The file that this card came in is lost. Import it again.');
      return { ...kindOf(content), content };
    },
  };
};
