import type { SoulDocument, SoulMemory } from '../domain/soul/document.js';
import { cutText } from '../domain/shared/text.js';
import { isObject, type Json, type JsonObject } from '../domain/shared/json.js';
import type { Branch } from './tree.js';

/** How much of a text is shown on its line, in UTF-16 units. */
const LINE_CHARS = 300;

const shown = (value: Json): string => cutText(typeof value === 'string' ? value : JSON.stringify(value), LINE_CHARS);

const isEmpty = (value: Json): boolean =>
  value === '' || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

/** Recorded members of the state; those that are only defaults are not shown. */
const stateLines = (document: SoulDocument): readonly Branch[] => {
  const { extra, filled, ...state } = document.state as unknown as JsonObject & {
    readonly extra: JsonObject;
    readonly filled: readonly string[];
  };
  const lines = Object.entries({ ...state, ...extra })
    .filter(([name]) => !filled.includes(name) || Object.hasOwn(extra, name))
    .map(([name, value]) => ({ text: `${name}: ${shown(value)}` }));
  return lines.length === 0 ? [{ text: 'none' }] : lines;
};

const memoryLine = ({ text, type, importance, timestamp, confirmed, metadata }: SoulMemory): Branch => ({
  text: `${timestamp.slice(0, 10)} ${type} ${importance.toFixed(2)}${confirmed ? ' confirmed' : ''}  ${shown(text)}`,
  below: isEmpty(metadata) ? [] : [{ text: shown(metadata) }],
});

const originLines = ({ provenance, ruleset }: SoulDocument): readonly Branch[] => {
  const { issuer, tenant, npcId, revision, hash, chain } = provenance;
  return [
    { text: `exported by ${issuer}, tenant ${tenant}, NPC ${npcId}` },
    { text: `as of revision ${String(revision)}, hash ${hash}` },
    { text: ruleset === null ? 'no rules' : `rules ${ruleset.rulesetId}, version ${String(ruleset.version)}` },
    ...chain.map((link) => ({
      text: `came from ${link.issuer}, tenant ${link.tenant}, NPC ${link.npcId}, at ${link.importedAt}`,
    })),
  ];
};

/** A soul for a person to read. @param most how many memories are shown, the newest of them */
export const soulTree = (document: SoulDocument, verdict: string, most: number): Branch => {
  const { id, name, persona, createdAt, memories, without } = document;
  const left = memories.length - most;
  return {
    text: `${name}, soul ${id} of ${createdAt}: ${verdict}`,
    below: [
      { text: 'persona', below: [{ text: persona === '' ? 'none' : shown(persona) }] },
      { text: 'state', below: stateLines(document) },
      {
        text: `memories: ${String(memories.length)}`,
        below: [
          ...(left > 0 ? [{ text: `${String(left)} older ones; --memories <n> shows more` }] : []),
          ...memories.slice(Math.max(0, left)).map(memoryLine),
        ],
      },
      ...(without === undefined ? [] : [{ text: `left out: ${without.join(', ')}` }]),
      { text: 'provenance', below: originLines(document) },
    ],
  };
};
