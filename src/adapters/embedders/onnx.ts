import { createHash, type Hash } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

import { StartProblem } from '../../kernel/base/start-problem.js';
import type { Embedder } from '../../ports/embedder.js';
import type { EmbedderChoice } from '../../ports/embedder-choice.js';
import type { EmbedderDeps } from './deps.js';
import { type ResumedVectors, ModelThread, threadFile } from './model-thread.js';
import { ModelThreads } from './model-threads.js';
import { threadEmbedder } from './thread-embedder.js';

/** The library that runs such models. It is not a dependency: its runtime has hundreds of megabytes, and only servers with a custom model need it. */
const LIBRARY = '@huggingface/transformers';
const INSTALL = `ONNXRUNTIME_NODE_INSTALL_CUDA=skip npm install --no-save ${LIBRARY}@3`;
/** Most such models read at most 512 tokens, and silently ignore the rest. */
const WINDOW_BYTES = 1_500;
/** How many parts of each of the model's files contribute to its id, and how large each is, in bytes: reading gigabytes would delay the start. */
const DIGESTED_PARTS = 8;
const DIGESTED_BYTES = 1_048_576;
/** How many characters of the digest are part of the id. */
const DIGEST_CHARACTERS = 16;

const require = createRequire(import.meta.url);

export type OnnxChoice = EmbedderChoice & { readonly kind: 'onnx' };

/**
 * An ONNX sentence encoder in a folder, in the layout of Hugging Face. Its id comes from the files, so that the same model in another folder or on
 * another machine is the same embedder, and a different model in the same folder is a different embedder.
 * @param resolve finds the library @throws StartProblem if the library is not installed or the folder cannot be read
 */
export const openOnnx = async (
  { folder, file, related, threads = 1 }: OnnxChoice,
  deps: EmbedderDeps,
  resolve: (name: string) => string = (name) => require.resolve(name),
): Promise<Embedder> => {
  const library = libraryFile(resolve);
  try {
    const pooling = await poolingOf(folder);
    const id = `onnx@${await digestOf(folder, file, pooling)}`;
    const data = { kind: 'onnx', folder, file, pooling, library };
    const windowBytes = WINDOW_BYTES;
    const open = (kept: ResumedVectors) => new ModelThread(threadFile, data, { ...deps, kept });
    return threadEmbedder(new ModelThreads(threads, open), { id, related, windowBytes });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartProblem(`ANIMA_EMBEDDER names ${folder}, which cannot be read (${code ?? message}).`);
  }
};

/** Loads the library as well: a second thread gets its native part only while the process itself has loaded it. */
const libraryFile = (resolve: (name: string) => string): string => {
  let file: string;
  try {
    file = resolve(LIBRARY);
  } catch {
    throw new StartProblem(
      `ANIMA_EMBEDDER=onnx:... needs the package ${LIBRARY}, which is not installed. Run "${INSTALL}" where Anima is installed, and repeat this after each "npm ci".`,
    );
  }
  try {
    require(file);
  } catch (error) {
    throw new StartProblem(
      `ANIMA_EMBEDDER=onnx:... needs the package ${LIBRARY}, which cannot be loaded (${(error as Error).message}). Run "${INSTALL}" again on this machine.`,
    );
  }
  return file;
};

/** How a sentence's vector is made from the vectors of its tokens, as the model specifies; default: their mean. */
const poolingOf = async (folder: string): Promise<'mean' | 'cls' | 'last_token'> => {
  const text = await readFile(join(folder, '1_Pooling/config.json'), 'utf8').catch(() => '{}');
  const { pooling_mode_cls_token: cls, pooling_mode_lasttoken: last } = JSON.parse(text) as Record<string, unknown>;
  if (cls === true) return 'cls';
  return last === true ? 'last_token' : 'mean';
};

const digestOf = async (folder: string, file: string, pooling: string): Promise<string> => {
  const hash = createHash('sha256').update(`${pooling}\n`);
  for (const name of ['config.json', 'tokenizer.json']) hash.update(await readFile(join(folder, name)));
  const path = join(folder, file);
  // The weights of a large model are in separate files: "model.onnx_data".
  const names = (await readdir(dirname(path))).filter((name) => name.startsWith(basename(path))).sort();
  for (const name of names) await digestParts(hash, join(dirname(path), name));
  return hash.digest('hex').slice(0, DIGEST_CHARACTERS);
};

/** Parts of a file, evenly spread from its beginning to its end, and its size. */
const digestParts = async (hash: Hash, path: string): Promise<void> => {
  await using file = await open(path);
  const { size } = await file.stat();
  hash.update(`${basename(path)} ${String(size)}\n`);
  const last = Math.max(0, size - DIGESTED_BYTES);
  for (let part = 0; part < DIGESTED_PARTS; part += 1) {
    const position = Math.floor((last * part) / (DIGESTED_PARTS - 1));
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(DIGESTED_BYTES), position });
    hash.update(buffer.subarray(0, bytesRead));
  }
};
