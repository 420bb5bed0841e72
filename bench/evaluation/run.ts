// Measures how well recall finds what a game asks for, with the embedder that the settings name.
// Usage: npm run eval:recall [-- --write]; with --write it puts the figures of the built-in embedder into docs/explanation/recall.md.
import { readFile, writeFile } from 'node:fs/promises';

import { openEmbedder } from '../../src/adapters/embedders/open.js';
import { systemClock } from '../../src/adapters/system/clock.js';
import { systemRandom } from '../../src/adapters/system/random.js';
import { parseConfig } from '../../src/config/config.js';
import { createLogger } from '../../src/config/logger.js';
import { readEnvironment } from '../../src/config/env.js';
import { separatingCosine } from './figures.js';
import { languageReport } from './languages.js';
import { readMinds } from './minds.js';
import { qualityReport, withFigures } from './quality-report.js';
import { asOneMind, askMinds } from './ranked.js';

const PAGE = new URL('../../docs/explanation/recall.md', import.meta.url);

const write = process.argv.includes('--write');
const { embedder: choice, embeddingCacheBytes } = parseConfig(readEnvironment(), process.cwd());
if (write && choice.kind !== 'builtin')
  throw new Error('the page is about the built-in embedder: leave ANIMA_EMBEDDER out');
const deps = { clock: systemClock, random: systemRandom, log: createLogger('info', process.stderr) };
await using embedder = await openEmbedder(choice, deps, embeddingCacheBytes);
const minds = readMinds();
const asked = await askMinds(embedder, minds);
const pooled = await askMinds(embedder, [asOneMind(minds)]);
const languages = await languageReport(embedder);
const text = `${qualityReport({ embedder: embedder.id, minds, asked, pooled })}\n\n${languages}`;
console.log(text);
console.log(
  `\nThe cosine that separates right memories from unrelated ones best: ${separatingCosine(asked).toFixed(2)}`,
);
if (write) await writeFile(PAGE, withFigures(await readFile(PAGE, 'utf8'), text));
