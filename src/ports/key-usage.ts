/** When each API key was last used; a convenience, not an event. It is at most a minute late, and losing a minute is harmless. */
export interface KeyUsage {
  touch(keyId: string, at: Date): void;
  lastUsedAt(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}
