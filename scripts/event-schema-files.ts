import { eventSchemaId } from '../src/features/npcs/cloud-event.js';
import { npcEventSchemas } from '../src/features/npcs/domain/event-schemas.js';
import { npcEvents } from '../src/features/npcs/domain/events.js';
import { GENERATED, markdownTable, tableField } from './markdown.js';

/** The folder of the published schemas, relative to the repository. */
export const EVENT_SCHEMAS = 'docs/reference/events';

/** The file name of the schema of a type's data. Schemas of older versions keep their files. */
export const eventSchemaFile = (type: string, version: number): string => `${type}.v${String(version)}.schema.json`;

const versionOf = (type: string): number => npcEvents.versionOf(type) ?? 1;

const eventIndex = (): string =>
  [
    '# Events of an NPC',
    '',
    GENERATED,
    '',
    'The history of an NPC consists of these events. The table says when the server records each of them, and links the JSON Schema of its data.',
    '',
    'A later release may add an optional member to an event without a new version, so programs must ignore unknown members.',
    '',
    ...markdownTable(
      ['type', 'version', 'recorded when', 'data'],
      Object.entries(npcEventSchemas).map(([type, { description }]) => {
        const version = versionOf(type);
        const file = eventSchemaFile(type, version);
        return [`\`${type}\``, String(version), tableField(description ?? ''), `[schema](${file})`];
      }),
    ),
    '',
  ].join('\n');

/** The schemas of an NPC's events, each in the newest version of its type, and the page that lists them. */
export const eventSchemaFiles = (): readonly (readonly [path: string, content: () => string])[] => [
  [`${EVENT_SCHEMAS}/index.md`, eventIndex],
  ...Object.entries(npcEventSchemas).map(([type, schema]) => {
    const version = versionOf(type);
    const head = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: eventSchemaId(type, version),
      title: `The data of ${type}, version ${String(version)}`,
    };
    return [
      `${EVENT_SCHEMAS}/${eventSchemaFile(type, version)}`,
      () => `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`,
    ] as const;
  }),
];
