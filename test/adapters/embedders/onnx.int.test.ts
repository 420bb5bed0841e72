import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { openOnnx } from '../../../src/adapters/embedders/onnx.js';
import { systemClock } from '../../../src/adapters/system/clock.js';
import { seededRandom } from '../../support/seeded-random.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const library = fileURLToPath(new URL('../../support/fake-transformers.cjs', import.meta.url));
const calm = { urgent: false };
const unused = (): void => undefined;

/** A folder in the layout of Hugging Face, with a model that cannot be run. */
const modelFolder = async (path: string, files: Readonly<Record<string, string>> = {}): Promise<string> => {
  const all = { 'config.json': '{}', 'tokenizer.json': '{}', 'onnx/model_quantized.onnx': 'weights', ...files };
  for (const [name, content] of Object.entries(all)) {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return path;
};

const open = async (
  folder: string,
  { file = 'onnx/model_quantized.onnx', errors = [] as object[], found = library } = {},
) => {
  const log = { info: () => undefined, warn: () => undefined, error: (fields: object) => void errors.push(fields) };
  const deps = { clock: systemClock, random: seededRandom('onnx'), log };
  return openOnnx({ kind: 'onnx', folder, file, related: 0.5 }, deps, () => found);
};
const idOf = async (folder: string): Promise<string> => {
  await using embedder = await open(folder);
  return embedder.id;
};

describe('a model in a folder', () => {
  it('names the package to install when the library is missing', async () => {
    await using directory = await temporaryDirectory();
    const folder = await modelFolder(directory.path);
    const deps = {
      clock: systemClock,
      random: seededRandom('onnx'),
      log: { info: unused, warn: unused, error: unused },
    };
    const choice = { kind: 'onnx', folder, file: 'onnx/model_quantized.onnx', related: 0.5 } as const;
    const opening = openOnnx(choice, deps, () => {
      throw new Error('Cannot find module');
    });
    await expect(opening).rejects.toThrow(
      /^ANIMA_EMBEDDER=onnx:... needs the package @huggingface\/transformers, which is not installed. Run "ONNXRUNTIME_NODE_INSTALL_CUDA=skip npm install --no-save /,
    );
  });

  it('is run by the library from the folder alone, with the pooling that the folder configures', async () => {
    await using directory = await temporaryDirectory();
    const pooling = JSON.stringify({ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false });
    const folder = await modelFolder(directory.path, { '1_Pooling/config.json': pooling });
    const errors: { readonly reason?: string }[] = [];
    await using embedder = await open(folder, { errors });
    await expect(embedder.embed(['tell'], calm)).rejects.toMatchObject({ code: 'EMBEDDER_UNAVAILABLE' });
    expect(JSON.parse(errors[0]?.reason ?? '')).toEqual({
      task: 'feature-extraction',
      folder,
      options: { dtype: 'q8', model_file_name: 'model', subfolder: 'onnx', local_files_only: true },
      how: { pooling: 'cls', normalize: true },
      env: { allowRemoteModels: false },
    });
    const [vector] = await embedder.embed(['some text'], calm);
    expect(vector).toHaveLength(8);
    expect([embedder.score(0.49), embedder.score(0.5)]).toEqual([expect.closeTo(0.49), 0.5]);
  });

  it('is named after its files, not after its folder', async () => {
    await using directory = await temporaryDirectory();
    const one = await modelFolder(join(directory.path, 'one'));
    const same = await modelFolder(join(directory.path, 'same'));
    const pooled = await modelFolder(join(directory.path, 'pooled'), {
      '1_Pooling/config.json': '{"pooling_mode_lasttoken":true}',
    });
    const trained = await modelFolder(join(directory.path, 'trained'), { 'onnx/model_quantized.onnx': 'Weights' });
    const ids = await Promise.all([one, same, pooled, trained].map(idOf));
    expect(ids[0]).toMatch(/^onnx@[0-9a-f]{16}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(new Set(ids).size).toBe(3);
  });

  it('is another model when its weights differ, even in a separate file or in the middle of one', async () => {
    await using directory = await temporaryDirectory();
    const weights = (byte: string): string =>
      `${'a'.repeat(3_000_000)}${byte.repeat(3_000_000)}${'a'.repeat(3_000_000)}`;
    const ids = new Set<string>();
    const models = [
      {},
      { 'onnx/model_quantized.onnx_data': 'one' },
      { 'onnx/model_quantized.onnx_data': 'two' },
      { 'onnx/model_quantized.onnx': weights('b') },
      { 'onnx/model_quantized.onnx': weights('c') },
    ];
    for (const [at, files] of models.entries()) {
      ids.add(await idOf(await modelFolder(join(directory.path, String(at)), files)));
    }
    expect(ids.size).toBe(models.length);
  });

  it('fails the start when the library cannot be loaded on this machine', async () => {
    await using directory = await temporaryDirectory();
    const folder = await modelFolder(directory.path);
    const found = join(directory.path, 'broken.cjs');
    await writeFile(found, "throw new Error('wrong ELF class')");
    await expect(open(folder, { found })).rejects.toThrow(
      /^ANIMA_EMBEDDER=onnx:... needs the package @huggingface\/transformers, which cannot be loaded \(wrong ELF class\)/,
    );
  });

  it('fails the start when the folder cannot be read', async () => {
    await using directory = await temporaryDirectory();
    await expect(open(directory.path)).rejects.toThrow(
      `ANIMA_EMBEDDER names ${directory.path}, which cannot be read (ENOENT).`,
    );
  });
});
