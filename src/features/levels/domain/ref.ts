/** The level that a session plays. `version` is null for a built-in or generated one; `digest` identifies the map, or a generated level. */
export type LevelRef = {
  readonly levelId: string;
  readonly version: number | null;
  readonly digest: string;
  readonly generated: boolean;
};
