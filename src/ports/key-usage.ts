/** When each API key was last used; a convenience, not an event: at most a minute late, and lost minutes are no harm. */
export interface KeyUsage {
  touch(keyId: string, at: Date): void;
  lastUsedAt(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
