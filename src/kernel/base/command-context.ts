/** Who sent a command. It is recorded with the events. */
export type CommandContext = {
  readonly tenant: string;
  /** The key id, or `system`. */
  readonly actor: string;
  readonly commandId: string;
  readonly correlationId: string;
  readonly causationId: string | null;
};
