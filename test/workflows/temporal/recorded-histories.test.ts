import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { readHistory, recordedHistories } from '../../support/recorded-histories.js';

const workflows = new URL('../../../workflows/temporal/', import.meta.url);
const sourceOf = (file: string): string => readFileSync(new URL(file, workflows), 'utf8');
const namesIn = (text: string, pattern: RegExp): readonly string[] =>
  Array.from(text.matchAll(pattern), ([, name = '']) => name);

type Payloads = { readonly payloads: readonly { readonly data: string }[] };
type RecordedEvent = {
  readonly workflowExecutionStartedEventAttributes?: { readonly workflowType: { readonly name: string } };
  readonly markerRecordedEventAttributes?: { readonly markerName: string; readonly details: Record<string, Payloads> };
};

const events = recordedHistories('history-').flatMap((name) => readHistory(name).events as readonly RecordedEvent[]);
const typesRun = events.flatMap(
  ({ workflowExecutionStartedEventAttributes: started }) => started?.workflowType.name ?? [],
);
/** The names of the patches that a run has used. */
const patchesTaken = events.flatMap(({ markerRecordedEventAttributes: marker }) => {
  const [payload] = marker?.markerName === 'core_patch' ? (marker.details['patch-data']?.payloads ?? []) : [];
  return payload === undefined
    ? []
    : [(JSON.parse(Buffer.from(payload.data, 'base64').toString()) as { id: string }).id];
});

/** The replay tests replay them; this test lists the required ones. */
describe('recorded histories', () => {
  it('exist for every workflow type', () => {
    const exported = namesIn(sourceOf('workflows.ts'), /^export \{ (?:\w+ as )?(\w+) \}/gm);
    expect(exported).toEqual(['default', 'turns']);
    for (const name of exported.filter((other) => other !== 'default')) expect(typesRun).toContain(name);
    // The default runs every type that has no name of its own.
    expect(typesRun.some((name) => !exported.includes(name))).toBe(true);
  });

  it('exist for every patch', () => {
    const files = readdirSync(workflows).filter((file) => file.endsWith('.ts'));
    const patches = files.flatMap((file) =>
      namesIn(sourceOf(file).replaceAll(/^\s*\/\/.*$/gm, ''), /(?:patched|deprecatePatch)\('([^']+)'\)/g),
    );
    expect(patches.length).toBeGreaterThan(0);
    expect([...new Set(patchesTaken)].sort()).toEqual([...new Set(patches)].sort());
  });

  it('exist for a run that continued as new, of each workflow', () => {
    const isContinued = (name: string): boolean =>
      /"EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW"/.test(JSON.stringify(readHistory(name)));
    expect(recordedHistories('history-').filter(isContinued)).toEqual([
      'history-long-attempt.json.gz',
      'history-shard-long.json.gz',
    ]);
  });
});
