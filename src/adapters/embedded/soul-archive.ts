import { rename, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { KeyedMutex } from '../../kernel/concurrency/keyed-mutex.js';
import { isContentDigest } from '../../kernel/crypto/content-digest.js';
import { StartProblem } from '../../kernel/base/start-problem.js';
import { isIpfsCid } from '../../kernel/crypto/ipfs-cid.js';
import type { Log } from '../../ports/log.js';
import type { Publication, Publishing, SoulArchive, Staging } from '../../ports/soul-archive.js';
import { flushDirectory } from '../files/flush.js';
import { makeDirectory } from '../files/make-directory.js';
import { isStagedBy, requireArchiveNames, requireCidOfDigest } from '../shared/archive-names.js';
import {
  emptyDirectory,
  fileBytes,
  fileErrorCode,
  isThere,
  moveFile,
  changedMs,
  directoryNames,
  onFiles,
  readPayload,
  readText,
  removeFile,
  writeWhole,
} from './archive-files.js';

/** The name of a staged payload: digest, tenant, and until when it is kept, in milliseconds since 1970. None of the three contains a dot. */
const STAGED_NAME = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{1,64})\.(\d{1,16})$/;
/** How many characters of a digest or a CID name its folder. A CID's first ones are always the same. */
const SHARD_CHARS = 2;

/** How many calls about one payload may run or wait. */
const CALLS_QUEUED = 1_024;

type StagedFile = {
  readonly path: string;
  readonly digest: string;
  readonly tenant: string;
  readonly expiresMs: number;
};

/**
 * Payloads as files of this process: `public/<2 characters>/<digest>`, and `staged/` in the same form with the tenant and the time in the name. So
 * each change of a payload's status is one renaming, done or not done if the process is killed. A file is written under `unfinished/` and renamed
 * too. The time of a public file is the time of its publication. `cids/<last 2 characters>/<cid>` holds the digest of the payload that the CID names.
 * A damaged file is moved to `damaged/`, and its name is free again.
 */
export class EmbeddedSoulArchive implements SoulArchive {
  readonly #root: string;
  readonly #log: Pick<Log, 'error'>;
  /** Calls about one payload run one at a time, in the order in which they were made. */
  readonly #mutex = new KeyedMutex(CALLS_QUEUED);
  /** Folders that were created, and flushed, by this process. */
  readonly #made = new Set<string>();
  #written = 0;
  /** The round of `dropPublic` that goes on: the folders of public payloads that it has not searched completely. */
  #round: { readonly untilMs: number; readonly shards: string[] } | null = null;

  private constructor(folder: string, log: Pick<Log, 'error'>) {
    this.#root = folder;
    this.#log = log;
  }

  /**
   * Opens the archive in a folder, and creates the folder if it is missing. Removes the unfinished files of a process that died.
   * @throws StartProblem if the folder cannot be used
   */
  static async open(folder: string, log: Pick<Log, 'error'>): Promise<EmbeddedSoulArchive> {
    try {
      for (const name of ['public', 'staged', 'cids', 'unfinished', 'damaged']) await makeDirectory(join(folder, name));
      await flushDirectory(folder);
      await flushDirectory(dirname(folder));
      await emptyDirectory(join(folder, 'unfinished'));
    } catch (cause) {
      const reason = fileErrorCode(cause) ?? String(cause);
      throw new StartProblem(`The archive in ${folder} cannot be opened (${reason}).`, { cause });
    }
    return new EmbeddedSoulArchive(folder, log);
  }

  async stage(digest: string, bytes: Uint8Array, { tenant, expiresAt }: Staging): Promise<void> {
    requireArchiveNames(digest, tenant);
    const expiresMs = expiresAt.getTime();
    await this.#exclusively(digest, async () => {
      if (await this.#isPublic(digest)) return;
      const before = (await this.#staged(digest)).find((file) => file.tenant === tenant);
      const path = join(await this.#shard('staged', digest), `${digest}.${tenant}.${String(expiresMs)}`);
      if (before === undefined) await this.#write(path, bytes);
      else if (before.expiresMs < expiresMs) await moveFile(before.path, path);
      else await flushDirectory(dirname(path));
    });
  }

  async publish(digest: string, { tenant, at }: Publishing): Promise<Publication | null> {
    if (!isContentDigest(digest)) return null;
    return this.#exclusively(digest, async () => {
      if (await this.#isPublic(digest)) return 'wasPublic';
      const staged = (await this.#staged(digest)).find((file) => file.tenant === tenant);
      if (staged === undefined) return null;
      // Before it is public: a process that dies in between leaves a staged file, whose time means nothing.
      await utimes(staged.path, at, at);
      await moveFile(staged.path, join(await this.#shard('public', digest), digest));
      return 'published';
    });
  }

  async withdraw(digest: string): Promise<boolean> {
    if (!isContentDigest(digest)) return false;
    const path = this.#publicPath(digest);
    return this.#exclusively(digest, async () => {
      const wasThere = await removeFile(path);
      if (wasThere) await flushDirectory(dirname(path));
      return wasThere;
    });
  }

  async read(digest: string): Promise<Uint8Array | null> {
    const found = await this.readPublic(digest);
    if (found !== null || !isContentDigest(digest)) return found;
    return this.#exclusively(digest, async () => {
      const staged = await this.#staged(digest);
      for (const path of [this.#publicPath(digest), ...staged.map((file) => file.path)]) {
        const payload = await this.#sound(path, digest);
        if (payload !== null) return payload;
      }
      return null;
    });
  }

  async readPublic(digest: string): Promise<Uint8Array | null> {
    if (!isContentDigest(digest)) return null;
    const path = this.#publicPath(digest);
    const found = await onFiles(() => readPayload(path, digest));
    // Checked once more before it is moved: another call may have replaced it with an undamaged one.
    return found === 'damaged' ? this.#exclusively(digest, () => this.#sound(path, digest)) : found;
  }

  async unstage(digest: string, { tenant }: Pick<Staging, 'tenant'>): Promise<void> {
    if (!isContentDigest(digest)) return;
    await this.#exclusively(digest, async () => {
      const staged = (await this.#staged(digest)).find((file) => file.tenant === tenant);
      if (staged !== undefined) await removeFile(staged.path);
    });
  }

  async stagedBytes(tenant: string, others?: string): Promise<number> {
    return onFiles(async () => {
      let bytes = 0;
      for (const shard of await directoryNames(join(this.#root, 'staged'))) {
        const own = (await this.#stagedIn(shard)).filter(isStagedBy(tenant, others));
        for (const { path } of own) bytes += await fileBytes(path);
      }
      return bytes;
    });
  }

  async nameByCid(cid: string, digest: string): Promise<void> {
    requireCidOfDigest(cid, digest);
    await this.#exclusively(cid, async () => {
      await this.#folder(dirname(this.#cidPath(cid)));
      await this.#write(this.#cidPath(cid), Buffer.from(digest));
    });
  }

  async digestOfCid(cid: string): Promise<string | null> {
    if (!isIpfsCid(cid)) return null;
    const digest = await onFiles(() => readText(this.#cidPath(cid)));
    return digest !== null && isContentDigest(digest) ? digest : null;
  }

  async dropStaged(before: Date, limit: number): Promise<number> {
    const untilMs = before.getTime();
    let dropped = 0;
    for (const shard of await onFiles(() => directoryNames(join(this.#root, 'staged')))) {
      for (const { path, digest, expiresMs } of await onFiles(() => this.#stagedIn(shard))) {
        if (dropped >= limit) return dropped;
        if (expiresMs <= untilMs && (await this.#exclusively(digest, () => removeFile(path)))) dropped += 1;
      }
    }
    return dropped;
  }

  async dropPublic(before: Date, limit: number): Promise<number> {
    const untilMs = before.getTime();
    // A round searches each folder once: payloads that are not due stay in them for years.
    if (this.#round?.untilMs !== untilMs) {
      const shards = await onFiles(() => directoryNames(join(this.#root, 'public')));
      this.#round = { untilMs, shards: [...shards] };
    }
    const round = this.#round;
    let dropped = 0;
    for (let shard = round.shards[0]; shard !== undefined; shard = round.shards[0]) {
      const folder = join(this.#root, 'public', shard);
      for (const digest of await onFiles(() => directoryNames(folder))) {
        if (dropped >= limit) return dropped;
        if (await this.#dropPublished(digest, untilMs)) dropped += 1;
      }
      // Another call may have finished it meanwhile.
      if (round.shards[0] === shard) round.shards.shift();
    }
    if (this.#round === round) this.#round = null;
    return dropped;
  }

  #dropPublished(digest: string, untilMs: number): Promise<boolean> {
    const path = this.#publicPath(digest);
    return this.#exclusively(digest, async () => {
      const publishedMs = await changedMs(path);
      return publishedMs !== null && publishedMs <= untilMs && removeFile(path);
    });
  }

  /** The payload in a file; null without one, or if it was damaged, and so moved out of the way. */
  async #sound(path: string, digest: string): Promise<Uint8Array | null> {
    const found = await readPayload(path, digest);
    if (found !== 'damaged') return found;
    const kept = join(this.#root, 'damaged', digest);
    this.#log.error({ digest, movedTo: kept }, 'An archived payload is damaged; treating it as missing');
    await rename(path, kept);
    return null;
  }

  async #isPublic(digest: string): Promise<boolean> {
    const path = this.#publicPath(digest);
    if (!(await isThere(path))) return false;
    await flushDirectory(dirname(path));
    return true;
  }

  async #staged(digest: string): Promise<readonly StagedFile[]> {
    return (await this.#stagedIn(digest.slice(0, SHARD_CHARS))).filter((file) => file.digest === digest);
  }

  async #stagedIn(shard: string): Promise<readonly StagedFile[]> {
    const folder = join(this.#root, 'staged', shard);
    return (await directoryNames(folder)).flatMap((name) => {
      const [, digest, tenant, expires] = STAGED_NAME.exec(name) ?? [];
      return digest === undefined || tenant === undefined
        ? []
        : [{ path: join(folder, name), digest, tenant, expiresMs: Number(expires) }];
    });
  }

  #publicPath(digest: string): string {
    return join(this.#root, 'public', digest.slice(0, SHARD_CHARS), digest);
  }

  #cidPath(cid: string): string {
    return join(this.#root, 'cids', cid.slice(-SHARD_CHARS), cid);
  }

  /** The folder of a payload, created if it is missing. */
  async #shard(kind: 'public' | 'staged', digest: string): Promise<string> {
    return this.#folder(join(this.#root, kind, digest.slice(0, SHARD_CHARS)));
  }

  async #folder(folder: string): Promise<string> {
    if (!this.#made.has(folder)) {
      await makeDirectory(folder);
      await flushDirectory(dirname(folder));
      this.#made.add(folder);
    }
    return folder;
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    this.#written += 1;
    await writeWhole(path, join(this.#root, 'unfinished', String(this.#written)), bytes);
  }

  #exclusively<T>(digest: string, work: () => Promise<T>): Promise<T> {
    return this.#mutex.runExclusive(digest, () => onFiles(work));
  }
}
