import { EMBED_TEXTS } from '../../src/ports/embedder.js';
import type { Effort } from '../effort.js';
import { type PartReport, whole } from '../report.js';
import { measurePair, type Pair, ratioOf, spreadOf } from '../rounds.js';
import { builtinEmbedder } from './fill.js';
import { memoryText } from './texts.js';

type EmbedBatch = (texts: readonly string[]) => Promise<unknown>;

/** How many texts per second are embedded, batch after batch. */
const perSecond = async (seconds: number, embed: EmbedBatch): Promise<number> => {
  const began = performance.now();
  let texts = 0;
  while (performance.now() - began < seconds * 1_000) {
    await embed(Array.from({ length: EMBED_TEXTS }, (_, index) => memoryText(texts + index)));
    texts += EMBED_TEXTS;
  }
  return (texts * 1_000) / (performance.now() - began);
};

/** The built-in embedder in its thread, against the bare encoder in this one, text by text. */
export const measureEmbedding = async (effort: Effort): Promise<PartReport> => {
  await using embedder = builtinEmbedder();
  const folder = new URL('../../src/adapters/embedders/multilingual/', import.meta.url);
  const { createSentenceEncoder } = (await import(new URL('sentence-encoder.mjs', folder).href)) as {
    readonly createSentenceEncoder: (folder: URL) => (text: string) => Float32Array;
  };
  const bare = createSentenceEncoder(folder);
  const embedOurs: EmbedBatch = (texts) => embedder.embed(texts, { urgent: false });
  const embedBare: EmbedBatch = async (texts) => {
    for (const text of texts) bare(text);
  };
  await perSecond(effort.warmUpSeconds, embedBare);
  await perSecond(effort.warmUpSeconds, embedOurs);
  const pairs: Pair<number>[] = [];
  for (let round = 0; round < effort.rounds; round += 1) {
    pairs.push(
      await measurePair(
        round,
        () => perSecond(effort.seconds, embedOurs),
        () => perSecond(effort.seconds, embedBare),
      ),
    );
  }
  return {
    figures: [
      {
        what: 'texts embedded, built-in embedder',
        ours: `${whole(spreadOf(pairs.map(({ ours }) => ours)).median)}/s`,
        reference: `bare encoder, text by text: ${whole(spreadOf(pairs.map(({ reference }) => reference)).median)}/s`,
        ratio: ratioOf(pairs),
        goal: null,
      },
    ],
    remarks: [`Embedding: texts like “${memoryText(0)}”`],
  };
};
