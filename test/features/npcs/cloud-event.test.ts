import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { EVENT_SCHEMAS, eventSchemaFile } from '../../../scripts/event-schema-files.js';
import { npcEventSchemas } from '../../../src/features/npcs/domain/event-schemas.js';
import { npcEvents } from '../../../src/features/npcs/domain/events.js';
import { toCloudEvent } from '../../../src/features/npcs/cloud-event.js';
import { messageKey, withoutData } from '../../../src/ports/event-publisher.js';
import { npcStream } from '../../../src/kernel/base/stream-names.js';
import type { RecordedEvent } from '../../../src/ports/event-store.js';
import { event } from '../../support/events.js';

const fixtures = JSON.parse(
  readFileSync(new URL('../../fixtures/stored-events.json', import.meta.url), 'utf8'),
) as readonly { readonly kind: string; readonly stored: Omit<RecordedEvent, 'position'> }[];

const recorded = (options: Parameters<typeof event>[1] = {}, stream = npcStream('studio', 'old gate/é')) => ({
  ...event('one', { type: 'StateChanged', data: { turnId: 't', patch: { hp: 1 } }, ...options }),
  stream,
  revision: 7,
});

describe('an event of a mind as a CloudEvent', () => {
  it('is a CloudEvents envelope with its data [11.7a]', () => {
    expect(toCloudEvent(recorded(), '/town')).toEqual({
      specversion: '1.0',
      id: event('one').id,
      source: '/town',
      type: 'anima.npc.StateChanged',
      subject: 'old gate/é',
      time: '2026-01-01T00:00:00.000Z',
      dataschema: 'urn:anima:event:StateChanged:1',
      tenant: 'studio',
      npcid: 'old gate/é',
      revision: 7,
      hash: 'a'.repeat(64),
      prevhash: '0'.repeat(64),
      datacontenttype: 'application/json',
      data: { turnId: 't', patch: { hp: 1 } },
    });
  });

  it('names the published schema of its data [11.7a]', () => {
    for (const type of Object.keys(npcEventSchemas)) {
      const schemaVersion = npcEvents.versionOf(type) ?? 1;
      const file = new URL(`../../../${EVENT_SCHEMAS}/${eventSchemaFile(type, schemaVersion)}`, import.meta.url);
      const { $id } = JSON.parse(readFileSync(file, 'utf8')) as { readonly $id: string };
      expect(toCloudEvent(recorded({ type, meta: { schemaVersion } }), '/town')?.dataschema).toBe($id);
    }
  });

  it('has attributes with names that CloudEvents allows', () => {
    const names = Object.keys(withoutData(toCloudEvent(recorded(), '/town') ?? expect.fail(), 'too-large'));
    expect(names).toContain('dataomitted');
    expect(names.filter((name) => !/^[a-z0-9]{1,20}$/.test(name))).toEqual([]);
  });

  it('contains neither actor nor request, whatever its type', () => {
    for (const { stored } of fixtures) {
      const { actor, commandId, correlationId, causationId } = stored.meta;
      const text = JSON.stringify(toCloudEvent(stored, '/town'));
      const kept = [actor, commandId, correlationId, causationId].filter(
        (id) => id !== null && id !== 'system' && text.includes(id),
      );
      expect(kept, stored.type).toEqual([]);
    }
  });

  it('does not exist for any other stream', () => {
    const others = fixtures.filter(({ kind }) => kind !== 'npc');
    expect(others.length).toBeGreaterThan(4);
    for (const { stored } of others) expect(toCloudEvent(stored as RecordedEvent, '/town'), stored.type).toBeNull();
  });

  it('has no data when this server cannot interpret the data [11.7b]', () => {
    for (const unknown of [recorded({ type: 'DreamDreamt' }), recorded({ meta: { schemaVersion: 2 } })]) {
      const published = toCloudEvent(unknown, '/town');
      expect(published).toMatchObject({ id: unknown.id, revision: 7, dataomitted: 'unknown-type' });
      expect(published).not.toHaveProperty('data');
      expect(published).not.toHaveProperty('datacontenttype');
    }
  });

  it('has the key of its tenant and mind, which no other mind shares [11.7c]', () => {
    const keyOf = (tenant: string, npcid: string): string => messageKey({ tenant, npcid });
    expect(keyOf('studio', 'old gate/é')).toBe('studio/old%20gate%2F%C3%A9');
    expect(keyOf('a', 'b%2Fc')).not.toBe(keyOf('a', 'b/c'));
  });
});
