import type { OwnerKeyFile } from '../../../src/ports/owner-key-file.js';

/** The owner-key file as two variables. `content` is the content of the file. */
export class MemoryOwnerKeyFile implements OwnerKeyFile {
  readonly path = 'owner-key';
  content: string | null = null;
  #prepared: string | null = null;

  async prepare(key: string): Promise<void> {
    this.#prepared = key;
  }

  async prepared(): Promise<string | null> {
    return this.#prepared;
  }

  async settle(): Promise<void> {
    this.content = this.#prepared;
    this.#prepared = null;
  }

  async discard(): Promise<void> {
    this.#prepared = null;
  }
}
