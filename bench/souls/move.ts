import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { SoulDocument } from '../../src/features/souls/domain/document.js';
import { temporaryDirectory } from '../cleanup.js';
import type { Effort } from '../effort.js';
import { type Figure, milliseconds, type PartReport, whole } from '../report.js';
import { measurePair, ratioOf, spreadOf } from '../rounds.js';
import { type MindServer, settled, startMindServer } from '../server.js';
import { strangersSoul } from './document.js';
import { peakDuring } from './peak-memory.js';

type Cost = { readonly ms: number; readonly mib: number };
type Costs = { readonly import: Cost; readonly export: Cost };

const PLAIN = fileURLToPath(new URL('./plain.js', import.meta.url));

const plain = async (file: string): Promise<Cost> => {
  const { stdout } = await promisify(execFile)(process.execPath, [PLAIN, file, `${file}.copy`]);
  return JSON.parse(stdout) as Cost;
};

const timed = async (server: MindServer, work: () => Promise<void>): Promise<Cost> => {
  const { result: ms, mib } = await peakDuring(server.pid, async () => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  });
  return { ms, mib };
};

const post = async ({ url, key }: MindServer, path: string, body: string): Promise<void> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
};

/** Both ways through a fresh server: the second phase of an import until the mind exists, then an export immediately. */
const throughServer = async (soul: SoulDocument, confirmation: string): Promise<Costs> => {
  await using directory = await temporaryDirectory();
  await using server = await startMindServer(directory.path);
  await post(server, '/npcs/import', '{"txIdRef":"bench"}');
  const arriving = await timed(server, () => post(server, '/npcs/import/confirm', confirmation));
  await settled(server);
  const leaving = await timed(server, () => post(server, `/v1/agents/${soul.npcId}/soul/export`, '{}'));
  return { import: arriving, export: leaving };
};

/** A mind with many memories is imported and exported, against the plain text of the same document, hashed and flushed to a file. */
export const measureMove = async ({ rounds, soulMemories }: Effort): Promise<PartReport> => {
  await using directory = await temporaryDirectory();
  const soul = await strangersSoul(soulMemories);
  const file = join(directory.path, 'soul.json');
  const text = JSON.stringify(soul);
  await writeFile(file, text);
  const confirmation = JSON.stringify({
    sicTxId: 'bench',
    sicDownloadResult: { adrBody: soul, adrStatus: 200, adrSuccess: true },
  });
  const pairs: { readonly ours: Costs; readonly reference: Costs }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const both = async (): Promise<Costs> => {
      const cost = await plain(file);
      return { import: cost, export: cost };
    };
    pairs.push(await measurePair(round, () => throughServer(soul, confirmation), both));
  }
  const figuresOf = (what: string, way: keyof Costs): readonly Figure[] => {
    const of = (unit: keyof Cost) =>
      pairs.map(({ ours, reference }) => ({ ours: ours[way][unit], reference: reference[way][unit] }));
    const median = (unit: keyof Cost, side: 'ours' | 'reference'): number =>
      spreadOf(of(unit).map((pair) => pair[side])).median;
    return [
      {
        what: `${what} of a mind with ${whole(soulMemories)} memories`,
        ours: milliseconds(median('ms', 'ours')),
        reference: `plain: ${milliseconds(median('ms', 'reference'))}`,
        ratio: ratioOf(of('ms')),
        goal: null,
      },
      {
        what: `${what}, peak memory above the start`,
        ours: `${whole(median('mib', 'ours'))} MiB`,
        reference: `plain: ${whole(median('mib', 'reference'))} MiB`,
        ratio: ratioOf(of('mib')),
        goal: null,
      },
    ];
  };
  return {
    figures: [...figuresOf('import', 'import'), ...figuresOf('export', 'export')],
    remarks: [
      `Import and export: the document is ${whole(Buffer.byteLength(text) / 1_024)} KiB long. Memory is that of the server’s process, which embeds the texts meanwhile.`,
    ],
  };
};
