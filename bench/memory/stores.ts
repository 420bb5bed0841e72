import { compareWithEcho } from '../compare.js';
import type { Effort } from '../effort.js';
import type { LoadRequest } from '../load.js';
import { type PartReport, whole } from '../report.js';
import { ratioOf, spreadOf } from '../rounds.js';
import { memoryText } from './texts.js';

/** One connection for each mind, and how many memories each stores before they repeat. */
const MINDS = 64;
const TEXTS = 64;

/** A POST that stores a memory, flushed before the answer and embedded in the background, against the echo of the same requests. */
export const measureStores = async (effort: Effort): Promise<PartReport> => {
  const connections: readonly (readonly LoadRequest[])[] = Array.from({ length: MINDS }, (_, mind) =>
    Array.from({ length: TEXTS }, (_text, index) => ({
      path: `/v1/agents/inn-${mind}/memory`,
      body: JSON.stringify({ text: memoryText(mind * TEXTS + index), type: 'observation' }),
    })),
  );
  const { pairs, remark } = await compareWithEcho(effort, connections, connections);
  const rates = pairs.map(({ ours, reference }) => ({ ours: ours.perSecond, reference: reference.perSecond }));
  return {
    figures: [
      {
        what: `memories stored, ${MINDS} connections`,
        ours: `${whole(spreadOf(rates.map(({ ours }) => ours)).median)}/s`,
        reference: `echo: ${whole(spreadOf(rates.map(({ reference }) => reference)).median)}/s`,
        ratio: ratioOf(rates),
        goal: null,
      },
    ],
    remarks: [`Memories stored: texts were embedded in the background meanwhile. ${remark}`],
  };
};
