import { compareWithEcho } from './compare.js';
import type { Effort } from './effort.js';
import type { LoadRequest } from './load.js';
import { type PartReport, whole } from './report.js';
import { ratioOf, spreadOf } from './rounds.js';
import { directiveAt, pathOf } from './scene.js';

/** One connection for each mind. */
const MINDS = 64;
const GOAL = 0.5;

/** A POST that records one event, flushed before the answer, against the echo of the same requests. */
export const measurePosts = async (effort: Effort): Promise<PartReport> => {
  const connections: readonly (readonly LoadRequest[])[] = Array.from({ length: MINDS }, (_, mind) => [
    { path: pathOf(mind, 'directive'), body: JSON.stringify(directiveAt(mind)) },
  ]);
  const { pairs, remark } = await compareWithEcho(effort, connections, connections);
  const rates = pairs.map(({ ours, reference }) => ({ ours: ours.perSecond, reference: reference.perSecond }));
  const ratio = ratioOf(rates);
  return {
    figures: [
      {
        what: `durable one-event POST, ${MINDS} connections`,
        ours: `${whole(spreadOf(rates.map(({ ours }) => ours)).median)}/s`,
        reference: `echo: ${whole(spreadOf(rates.map(({ reference }) => reference)).median)}/s`,
        ratio,
        goal: { text: `≥ ${GOAL}`, met: ratio.median >= GOAL },
      },
    ],
    remarks: [`One-event POST: ${remark}`],
  };
};
