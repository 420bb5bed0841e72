import type { RulesetContent } from '../ruleset.js';
import { defaultPreset } from './default.js';
import { firstPresets } from './grammar-1.js';
import { rpgPreset } from './rpg.js';
import { socialPreset } from './social.js';
import { stealthPreset } from './stealth.js';

/**
 * Recorded decisions name a preset by version 0 and the digest of its content. So a content that was released never changes: a changed preset is
 * another entry, and the one before it moves into a file like grammar-1.ts.
 */
const newest: readonly RulesetContent[] = [defaultPreset, socialPreset, rpgPreset, stealthPreset];

const contents: ReadonlyMap<string, readonly [RulesetContent, ...RulesetContent[]]> = new Map(
  newest.map((content) => {
    const first = firstPresets.get(content.rulesetId);
    return [content.rulesetId, first === undefined ? [content] : [first, content]];
  }),
);

export const presetIds = (): readonly string[] => [...contents.keys()];

/** Every content that a preset has had, the oldest first; none if there is no preset of this name. */
export const presetContents = (presetId: string): readonly RulesetContent[] => contents.get(presetId) ?? [];

/** A preset by name, with or without a leading `preset_`; null if there is none. Its rulesetId is the preset's name. */
export const findPreset = (presetId: string): RulesetContent | null =>
  presetContents(presetId.replace(/^preset_/, '')).at(-1) ?? null;
