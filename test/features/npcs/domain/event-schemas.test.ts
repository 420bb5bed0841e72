import { readdirSync, readFileSync } from 'node:fs';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';

import { eventSchemaFile, eventSchemaFiles, EVENT_SCHEMAS } from '../../../../scripts/event-schema-files.js';
import { eventSchemaId } from '../../../../src/features/npcs/cloud-event.js';
import { npcEventSchemas } from '../../../../src/features/npcs/domain/event-schemas.js';
import type { JsonObject } from '../../../../src/kernel/base/json.js';
import type { RecordedEvent } from '../../../../src/ports/event-store.js';

const folder = new URL(`../../../../${EVENT_SCHEMAS}/`, import.meta.url);
const stored = (
  JSON.parse(readFileSync(new URL('../../../fixtures/stored-events.json', import.meta.url), 'utf8')) as readonly {
    readonly kind: string;
    readonly stored: RecordedEvent;
  }[]
).flatMap((fixture) => (fixture.kind === 'npc' ? [fixture.stored] : []));
const named = stored.map((event) => [`${event.type} ${String(event.meta.schemaVersion)}`, event] as const);
const schemaOf = ({ type, meta }: RecordedEvent): JsonObject =>
  JSON.parse(readFileSync(new URL(eventSchemaFile(type, meta.schemaVersion), folder), 'utf8')) as JsonObject;

describe('the published schemas of a mind’s events', () => {
  it('exist for every type and version', () => {
    const wanted = stored.map(({ type, meta }) => eventSchemaFile(type, meta.schemaVersion));
    expect(
      readdirSync(folder)
        .filter((name) => name !== 'index.md')
        .sort(),
    ).toEqual(wanted.sort());
  });

  it('are the output of "npm run generate", as is the page that lists them', () => {
    for (const [path, content] of eventSchemaFiles())
      expect([path, readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8') === content()]).toEqual([
        path,
        true,
      ]);
  });

  it.each(Object.entries(npcEventSchemas))(
    'describe in one sentence when the event is recorded: %s',
    (type, { description }) => {
      expect(description).toMatch(/^[A-Z].*\.$/);
      const page = readFileSync(new URL('index.md', folder), 'utf8');
      expect(page).toContain(`| \`${type}\` | 1 | ${description ?? ''} | [schema](${type}.v1.schema.json) |`);
    },
  );

  it.each(named)('match the stored events: %s', (_, event) => {
    const ajv = new Ajv2020({ allErrors: true });
    expect(ajv.validate(schemaOf(event), event.data), ajv.errorsText()).toBe(true);
  });

  it.each(named)('have the name that the event gives: %s', (_, event) => {
    expect(schemaOf(event)['$id']).toBe(eventSchemaId(event.type, event.meta.schemaVersion));
  });

  it.each(named)('refuse data that lack a member: %s', (_, event) => {
    const schema = schemaOf(event);
    const isValid = new Ajv2020().compile(schema);
    const required = (schema['required'] ?? []) as readonly string[];
    for (const name of required) {
      const { [name]: __, ...lacking } = event.data;
      expect(isValid(lacking), name).toBe(false);
    }
    expect(isValid([])).toBe(false);
  });
});
