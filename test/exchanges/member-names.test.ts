import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { servedRoutes } from '../../scripts/served-routes.js';
import { documentOf } from '../support/openapi.js';
import { goneNames, joinedNames, memberNames, type MemberNames } from './member-names.js';

const recorded = JSON.parse(
  await readFile(new URL('../fixtures/member-names.json', import.meta.url), 'utf8'),
) as MemberNames;
const document = documentOf(servedRoutes());
const served = memberNames(document);

/** The document with another text in place of each occurrence of one. */
const changed = (from: string, to: string) =>
  memberNames(JSON.parse(JSON.stringify(document).replaceAll(from, to)) as typeof document);

describe('the members of responses', () => {
  it('are never removed or renamed within an API version [1.1d]', () => {
    expect(Object.values(recorded).flat().length).toBeGreaterThan(1_000);
    expect(goneNames(recorded, served)).toEqual([]);
  });

  it('are missed under another name, at any depth, and when their schema is another one', () => {
    expect(goneNames(served, changed('"se1SignedPayload"', '"signedPayload"'))).toEqual([
      '#ExportSoulResponse: se1SignedPayload',
      '#ExportSoulResponse: se1SignedPayload#SoulDocument',
    ]);
    expect(goneNames(served, changed('"fuel"', '"energy"'))).toEqual([]);
    expect(goneNames(served, changed('#/components/schemas/NpcList', '#/components/schemas/PresetList'))).toContain(
      'GET /npcs 200: #NpcList',
    );
  });

  it('may be added [1.1d]', () => {
    const more = { ...served, '#Npc': [...(served['#Npc'] ?? []), 'mood'] };
    expect(goneNames(recorded, more)).toEqual([]);
    expect(joinedNames(recorded, more)['#Npc']).toContain('mood');
  });
});
