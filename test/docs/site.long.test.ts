import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { temporaryDirectory } from '../support/temporary-directory.js';
import { pagesIn, repository } from './pages.js';

const run = promisify(execFile);

describe('npm run docs', () => {
  it('builds a site that has every page, and a search', async () => {
    await using directory = await temporaryDirectory();
    const vitepress = join(repository, 'node_modules/vitepress/bin/vitepress.js');
    await run(process.execPath, [vitepress, 'build', 'docs', '--outDir', directory.path], { cwd: repository });
    const files = new Set(
      (await readdir(directory.path, { recursive: true })).map((name) => name.replaceAll('\\', '/')),
    );
    const pages = pagesIn('docs').map((page) => page.replace(/^docs\//, '').replace(/\.md$/, '.html'));
    expect(pages.filter((page) => !files.has(page))).toEqual([]);
    expect([...files].some((name) => /@localSearchIndexroot/.test(name))).toBe(true);
    const textOf = (page: string): Promise<string> => readFile(join(directory.path, page), 'utf8');
    expect(await textOf('how-to/play-a-turn.html')).toContain('IdentifyActor');
    expect(await textOf('how-to/import-a-card.html')).toContain('{{char}}');
    expect(await textOf('index.html')).not.toContain('{{');
    expect(await textOf('operate/roles.html')).toContain('<pre class="mermaid">flowchart LR');
    expect(files.has('reference/soul.schema.json')).toBe(true);
  });
});
