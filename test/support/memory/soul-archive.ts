import type { Publication, Publishing, SoulArchive, Staging } from '../../../src/ports/soul-archive.js';
import { isStagedBy, requireArchiveNames, requireCidOfDigest } from '../../../src/adapters/shared/archive-names.js';

type Staged = Staging & { readonly digest: string; readonly bytes: Uint8Array };

/** Payloads for the lifetime of the process. */
export class MemorySoulArchive implements SoulArchive {
  readonly #public = new Map<string, { readonly bytes: Uint8Array; readonly at: Date }>();
  readonly #staged = new Map<string, Staged>();
  readonly #digests = new Map<string, string>();

  async stage(digest: string, bytes: Uint8Array, { tenant, expiresAt }: Staging): Promise<void> {
    requireArchiveNames(digest, tenant);
    if (this.#public.has(digest)) return;
    const key = keyOf(digest, tenant);
    const before = this.#staged.get(key);
    if (before === undefined || before.expiresAt < expiresAt)
      this.#staged.set(key, { digest, bytes: Uint8Array.from(bytes), tenant, expiresAt });
  }

  async publish(digest: string, { tenant, at }: Publishing): Promise<Publication | null> {
    const key = keyOf(digest, tenant);
    const staged = this.#staged.get(key);
    this.#staged.delete(key);
    if (this.#public.has(digest)) return 'wasPublic';
    if (staged === undefined) return null;
    this.#public.set(digest, { bytes: staged.bytes, at });
    return 'published';
  }

  async withdraw(digest: string): Promise<boolean> {
    return this.#public.delete(digest);
  }

  async read(digest: string): Promise<Uint8Array | null> {
    const staged = [...this.#staged.values()].find((one) => one.digest === digest);
    return (await this.readPublic(digest)) ?? staged?.bytes ?? null;
  }

  async readPublic(digest: string): Promise<Uint8Array | null> {
    return this.#public.get(digest)?.bytes ?? null;
  }

  async unstage(digest: string, { tenant }: Pick<Staging, 'tenant'>): Promise<void> {
    this.#staged.delete(keyOf(digest, tenant));
  }

  async stagedBytes(tenant: string, others?: string): Promise<number> {
    const own = [...this.#staged.values()].filter(isStagedBy(tenant, others));
    return own.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  async nameByCid(cid: string, digest: string): Promise<void> {
    requireCidOfDigest(cid, digest);
    this.#digests.set(cid, digest);
  }

  async digestOfCid(cid: string): Promise<string | null> {
    return this.#digests.get(cid) ?? null;
  }

  async dropStaged(before: Date, limit: number): Promise<number> {
    const due = [...this.#staged].filter(([, { expiresAt }]) => expiresAt <= before).slice(0, limit);
    for (const [key] of due) this.#staged.delete(key);
    return due.length;
  }

  async dropPublic(before: Date, limit: number): Promise<number> {
    const due = [...this.#public].filter(([, { at }]) => at <= before).slice(0, limit);
    for (const [digest] of due) this.#public.delete(digest);
    return due.length;
  }
}

const keyOf = (digest: string, tenant: string): string => `${digest} ${tenant}`;
