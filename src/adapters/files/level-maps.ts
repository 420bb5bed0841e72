import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Json } from '../../kernel/base/json.js';

/** The bundled levels, in the order of lists (docs/reference/formats/level.md). */
const levelIds = ['cellar', 'market', 'faulty'] as const;

/** Beside the sources in the checkout, and beside what was compiled from them in a build. */
export const levelsFolder = fileURLToPath(new URL('../../../levels/', import.meta.url));

export const levelMapNames: readonly string[] = levelIds.map((levelId) => `${levelId}.tmj`);

/** The maps of the levels that come with the server. @throws Error when one of them is missing, which is a broken installation */
export const readLevelMaps = async (): Promise<readonly { readonly levelId: string; readonly map: Json }[]> =>
  Promise.all(
    levelIds.map(async (levelId, at) => {
      const text = await readFile(join(levelsFolder, levelMapNames[at] ?? ''), 'utf8');
      return { levelId, map: JSON.parse(text) as Json };
    }),
  );
