import type { KeyUsage } from '../../ports/key-usage.js';

/** When keys were last used, for as long as the process lives. */
export class MemoryKeyUsage implements KeyUsage {
  readonly #used = new Map<string, string>();

  touch(keyId: string, at: Date): void {
    const used = at.toISOString();
    if (used > (this.#used.get(keyId) ?? '')) this.#used.set(keyId, used);
  }

  async lastUsedAt(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map(
      keyIds.flatMap((keyId) => {
        const used = this.#used.get(keyId);
        return used === undefined ? [] : [[keyId, used] as const];
      }),
    );
  }
}
