/** On whose behalf something is asked, and recorded. */
export type CommandContext = {
  readonly tenant: string;
  /** The key id, or `system`. */
  readonly actor: string;
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string | null;
};
