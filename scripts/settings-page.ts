import { boundsShown, type SettingName, settingNames, settings } from '../src/config/settings.js';
import { type SettingDefinition, type SettingGroup, settingGroups } from '../src/config/settings/setting.js';
import { GENERATED, markdownTable, tableField } from './markdown.js';

const INTRODUCTION = `
Settings are environment variables. An empty variable counts as absent. If a value is invalid or incomplete, the server does not start, and
reports all problems together. Unknown variables that start with \`ANIMA_\` are logged as warnings, and so are settings that the profile does not use.
The distributed profile has [more settings](settings-distributed.md).
`;

const groups: Readonly<Record<SettingGroup, { readonly title: string; readonly intro?: string }>> = {
  server: { title: 'Server' },
  security: { title: 'Security', intro: 'See [Proofs](../explanation/proofs.md) for checkpoints.' },
  limits: { title: 'Limits' },
  recall: { title: 'Recall', intro: 'See [The embedder](../operate/embedder.md).' },
  engines: { title: 'Engines', intro: 'See [Engines](../operate/engines.md).' },
  souls: { title: 'Souls', intro: 'URLs have no user, password or query.' },
  ghosts: { title: 'Ghosts' },
  distributed: {
    title: 'All processes',
  },
  'event store': { title: 'Event store' },
  Temporal: {
    title: 'Temporal',
    intro: 'See [TLS and credentials](../operate/tls-and-credentials.md) and [Encryption](../operate/encryption.md).',
  },
  Kafka: { title: 'Kafka', intro: 'See [The public topic](../operate/public-topic.md).' },
  PostgreSQL: { title: 'PostgreSQL' },
  'command line': {
    title: 'Command line',
    intro: 'The server does not read these. Commands find the owner key through `ANIMA_DATA_DIR`.',
  },
  reserved: { title: 'Reserved and renamed' },
};

const defaultShown = ({ default: text, defaultShown: shown, required }: SettingDefinition): string => {
  if (required !== undefined) return 'required';
  return shown ?? (text === null ? 'none' : `\`${text}\``);
};

/** What a value must be, where the description does not say it. */
const valuesShown = (setting: SettingDefinition): string => {
  const { values, expects, required, min, unit } = setting;
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (required !== undefined) return `like \`${required}\``;
  if (expects !== undefined) return expects === 'text' ? '' : expects.replace(/\b\w+:\/\/\S+/g, '`$&`');
  if (min === undefined) return '';
  return `${String(min)} to ${boundsShown(setting).split(' to ')[1] ?? ''}${unit === undefined ? '' : ` ${unit === 'milliseconds' ? 'ms' : unit}`}`;
};

const row = (name: SettingName): readonly string[] => {
  const setting = settings[name];
  return [`\`${name}\``, defaultShown(setting), valuesShown(setting), setting.about].map(tableField);
};

const section = (group: SettingGroup): string => {
  const { title, intro } = groups[group];
  return [
    `## ${title}`,
    ...(intro === undefined ? [] : ['', intro]),
    '',
    ...markdownTable(
      ['Variable', 'Default', 'Values', 'Description'],
      settingNames.filter((name) => settings[name].group === group).map(row),
    ),
  ].join('\n');
};

const DISTRIBUTED_INTRODUCTION =
  'These settings only apply with `ANIMA_PROFILE=distributed`, which also requires `ANIMA_SECRET`, the same for all processes. [Settings](settings.md) lists all others.';

const distributedGroups: ReadonlySet<SettingGroup> = new Set([
  'distributed',
  'event store',
  'Temporal',
  'Kafka',
  'PostgreSQL',
]);

const page = (title: string, introduction: string, shown: readonly SettingGroup[]): string =>
  `${[`# ${title}`, GENERATED, introduction.trim(), ...shown.map(section)].join('\n\n')}\n`;

/** The reference page of the settings of every profile. */
export const settingsPage = (): string =>
  page(
    'Settings',
    INTRODUCTION,
    settingGroups.filter((group) => !distributedGroups.has(group)),
  );

/** The reference page of the settings that only the distributed profile reads. */
export const distributedSettingsPage = (): string =>
  page(
    'Settings of the distributed profile',
    DISTRIBUTED_INTRODUCTION,
    settingGroups.filter((group) => distributedGroups.has(group)),
  );
