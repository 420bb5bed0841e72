/** Which level a session plays (contract 9.8). `version` is null of a built-in and of a generated one; `digest` is of the map, or of a generated level. */
export type LevelRef = {
  readonly levelId: string;
  readonly version: number | null;
  readonly digest: string;
  readonly generated: boolean;
};
