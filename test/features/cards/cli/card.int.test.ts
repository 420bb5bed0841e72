import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { cardTextIn, withCards } from '../../../../src/features/cards/card-picture.js';
import { pngChunks } from '../../../../src/kernel/crypto/png.js';
import { agnaiCard, v2Card, v3Card } from '../domain/cards.js';
import { zipOf } from '../zip-of.js';
import type { ServerUnderTest } from '../../../scenarios/server-under-test.js';
import { openEmbeddedServer } from '../../../support/embedded-server.js';
import { temporaryDirectory } from '../../../support/temporary-directory.js';
import { typed } from '../../../cli/typed.js';

describe('anima card', () => {
  let server: ServerUnderTest;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  const inFolder = (name: string): string => join(folder.path, name);
  const card = (...words: string[]) =>
    typed(['card', ...words], { env: { ANIMA_URL: server.url, ANIMA_API_KEY: server.ownerKey }, cwd: folder.path });
  const cardIn = async (name: string): Promise<unknown> =>
    JSON.parse((await cardTextIn(await readFile(inFolder(name)), 1_000_000)).toString('utf8'));

  beforeAll(async () => {
    folder = await temporaryDirectory();
    server = await openEmbeddedServer();
    await writeFile(inFolder('mira.json'), JSON.stringify(v2Card()));
    await writeFile(inFolder('mira.png'), withCards({ ccv3: v3Card() }));
    await writeFile(inFolder('empty.png'), withCards({}));
    await writeFile(inFolder('soul.json'), JSON.stringify({ npcId: 'mira', provenance: {}, signature: '' }));
    await writeFile(inFolder('broken.json'), '{"name":');
    await writeFile(
      inFolder('mira.charx'),
      zipOf([{ name: 'card.json', content: `\ufeff${JSON.stringify(v3Card())}` }]),
    );
    await writeFile(inFolder('broken.charx'), 'PK\u0003\u0004');
    await writeFile(inFolder('agnai.json'), JSON.stringify(agnaiCard([null])));
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it('imports a card from JSON and from an image, and reports the result [8.9g]', async () => {
    const { code, stdout } = await card('import', 'mira', 'mira.json');
    expect([code, stdout]).toEqual([
      0,
      'mira is now Mira, from a V2 card. Lore entries: 5, skipped: 2 (disabled: 1, without a text: 1). Memories stored: 3, already known: 0.\n',
    ]);
    const again = await card('import', 'oath', 'mira.png', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ npcId: 'oath', cardVersion: 3, lore: { stored: 1 } });
  });

  it('exports a card to standard output, to a file, and into a new or given image', async () => {
    expect(JSON.parse((await card('export', 'mira')).stdout)).toEqual(v2Card());
    const written = await card('export', 'mira', '--out', 'as-v3.json', '--version', '3');
    expect([written.code, written.stderr]).toEqual([0, 'Wrote the card of mira to as-v3.json.\n']);
    expect(JSON.parse(await readFile(inFolder('as-v3.json'), 'utf8'))).toMatchObject({ spec: 'chara_card_v3' });
    expect(await card('export', 'oath', '--out', 'oath.png', '--png')).toMatchObject({ code: 0 });
    expect(await cardIn('oath.png')).toEqual(v3Card());
    expect(await card('export', 'mira', '--out', 'mira-again.png', '--picture', 'mira.png')).toMatchObject({ code: 0 });
    expect(await cardIn('mira-again.png')).toEqual(v2Card());
    expect(pngChunks(await readFile(inFolder('mira-again.png')))).toHaveLength(4);
  });

  it.each([
    ['--file', '--png'],
    ['--file', '--picture', 'mira.png'],
    ['--file', '--original'],
    ['--file', '--version', '3'],
    ['--original', '--version', '3'],
    ['--png', '--picture', 'mira.png'],
  ])('refuses options that exclude each other: %s and %s', async (...options) => {
    const { code, stderr } = await card('export', 'mira', '--out', 'none', ...options);
    expect(code).toBe(2);
    expect(stderr).toContain('cannot be used with');
    await expect(readFile(inFolder('none'))).rejects.toThrow('ENOENT');
  });

  it('imports a card from a CHARX, and warns of what it left out [8.9t, 8.9w]', async () => {
    expect(await card('import', 'charx', 'mira.charx')).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await card('import', 'agnai', 'agnai.json');
    expect([code, stderr]).toEqual([
      0,
      'warning: /characterBook/entries/0 must be an object, not null; the entry was left out\n',
    ]);
    expect(JSON.parse((await card('export', 'agnai', '--original')).stdout)).toEqual(agnaiCard([null]));
  });

  it('keeps the imported file, and writes it again, byte for byte [8.9ac]', async () => {
    for (const name of ['mira.png', 'mira.charx', 'mira.json']) {
      expect(await card('import', 'kept', name)).toMatchObject({ code: 0 });
      const { code, stderr } = await card('export', 'kept', '--file', '--out', 'kept');
      expect([code, stderr]).toEqual([0, 'Wrote the imported file of kept to kept.\n']);
      expect((await readFile(inFolder('kept'))).equals(await readFile(inFolder(name)))).toBe(true);
    }
    expect(await card('export', 'kept', '--file')).toMatchObject({ code: 2, stderr: 'A file needs --out <file>.\n' });
    expect(await card('export', 'nobody', '--file', '--out', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(NPC_NOT_FOUND)') as string,
    });
  });

  it('reports an error in one sentence', async () => {
    const sentences = [
      [['import', 'mira', 'nowhere.png'], 'nowhere.png does not exist.'],
      [['import', 'mira', 'empty.png'], 'empty.png: The file contains no character card'],
      [
        ['import', 'mira', 'broken.json'],
        'broken.json: This is neither a card in JSON nor a PNG or CHARX with a card. The JSON ends too early.',
      ],
      [
        ['export', 'mira', '--out', 'x.png', '--picture', 'mira.json'],
        'mira.json: This is not a complete PNG with a readable card. The file',
      ],
      [['import', 'mira', 'broken.charx'], 'broken.charx: This is not a complete CHARX (a zip) with a readable card.'],
      [
        ['import', 'mira', 'soul.json'],
        'soul.json is a soul, not a card. Import it with "anima soul import soul.json".',
      ],
      [['export', 'nobody'], '(NPC_NOT_FOUND)'],
    ] as const;
    for (const [words, sentence] of sentences) {
      expect(await card(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining(sentence) as string });
    }
    expect(await card('export', 'mira', '--version', '1')).toMatchObject({ code: 2 });
    const nowhere = await card('export', 'mira', '--png');
    expect([nowhere.code, nowhere.stderr]).toEqual([2, 'A picture needs --out <file>.\n']);
  });
});
