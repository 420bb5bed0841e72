import { eventSchemaId } from '../src/features/npcs/cloud-event.js';
import { npcEventSchemas } from '../src/features/npcs/domain/event-schemas.js';
import { npcEvents } from '../src/features/npcs/domain/events.js';

/** Where the schemas are published, seen from the repository. */
export const EVENT_SCHEMAS = 'docs/events';

/** The file of a schema of a type's data; a type's older versions keep the files that they had. */
export const eventSchemaFile = (type: string, version: number): string => `${type}.v${String(version)}.schema.json`;

/** The files with the schemas of a mind's events, each in the newest version of its type. */
export const eventSchemaFiles = (): readonly (readonly [path: string, content: () => string])[] =>
  Object.entries(npcEventSchemas).map(([type, schema]) => {
    const version = npcEvents.versionOf(type) ?? 1;
    const head = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: eventSchemaId(type, version),
      title: `The data of ${type}, version ${String(version)}`,
    };
    return [
      `${EVENT_SCHEMAS}/${eventSchemaFile(type, version)}`,
      () => `${JSON.stringify({ ...head, ...schema }, null, 2)}\n`,
    ] as const;
  });
