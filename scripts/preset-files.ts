import { findPreset, presetIds } from '../src/features/rules/domain/presets/presets.js';

/** The folder of the presets as files, next to their tests. */
const PRESETS = 'examples/rules/presets';

/** Each preset as a body of `POST /rules`. */
export const presetFiles = (): readonly (readonly [path: string, content: () => string])[] =>
  presetIds().map((presetId) => [
    `${PRESETS}/${presetId}.json`,
    () => `${JSON.stringify(findPreset(presetId), null, 2)}\n`,
  ]);
