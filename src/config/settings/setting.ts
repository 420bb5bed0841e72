export const settingGroups = [
  'server',
  'security',
  'limits',
  'recall',
  'engines',
  'souls',
  'ghosts',
  'distributed',
  'event store',
  'Temporal',
  'Kafka',
  'PostgreSQL',
  'command line',
  'reserved',
] as const;
export type SettingGroup = (typeof settingGroups)[number];

/** An environment variable of the server or of the command line. */
export type SettingDefinition = {
  readonly group: SettingGroup;
  /** The text that counts if the variable is absent or empty; null: the variable is optional and has no default. */
  readonly default: string | null;
  /** What the server does without the variable, where `default` does not show it. */
  readonly defaultShown?: string;
  readonly about: string;
  /** What a value must be, as problems and the reference page name it. */
  readonly expects?: string;
  /** All accepted values. */
  readonly values?: readonly string[];
  /** Bounds of a whole number. */
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  /** Only this profile reads it; without this, every profile does. */
  readonly profile?: 'distributed';
  /** An example of a required value. */
  readonly required?: string;
};
