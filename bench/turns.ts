import { compareWithEcho } from './compare.js';
import type { Effort } from './effort.js';
import type { LoadRequest } from './load.js';
import { type PartReport, whole } from './report.js';
import { ratioOf, spreadOf } from './rounds.js';
import { OBSERVATIONS, pathOf, turnAt } from './scene.js';

/** One connection for each mind. */
const MINDS = 32;
const REQUESTS = 4;
const GOAL = 2_000;

/** The beginning of the answer to a turn that ends as expected. */
const FINALIZED = '{"instruction":{"type":"Finalize","valid":true,';

/** The turns of every mind, request by request; `onEnd` gets the answer to every fourth. */
export const turnRequests = (onEnd?: (body: string) => void): readonly (readonly LoadRequest[])[] =>
  Array.from({ length: MINDS }, (_, mind) =>
    Array.from({ length: OBSERVATIONS }, (_, moment) => turnAt(mind, moment))
      .flat()
      .map((step, index) => ({
        path: pathOf(mind, 'process'),
        body: JSON.stringify(step),
        ...(onEnd === undefined || index % REQUESTS !== REQUESTS - 1 ? {} : { onAnswer: onEnd }),
      })),
  );

/** Complete turns of four requests, each mind on its own connection, against the echo of the same requests. */
export const measureTurns = async (effort: Effort): Promise<PartReport> => {
  const ends = { right: 0, wrong: [] as string[] };
  const onEnd = (body: string): void => {
    if (body.startsWith(FINALIZED)) ends.right += 1;
    else ends.wrong.push(body);
  };
  const { pairs, remark } = await compareWithEcho(effort, turnRequests(onEnd), turnRequests());
  const [wrong] = ends.wrong;
  if (wrong !== undefined) throw new Error(`a turn did not end with its fourth request, but there came ${wrong}`);
  if (ends.right === 0) throw new Error('no turn ended');
  const rates = pairs.map(({ ours, reference }) => ({
    ours: ours.perSecond / REQUESTS,
    reference: reference.perSecond / REQUESTS,
  }));
  const perSecond = spreadOf(rates.map(({ ours }) => ours));
  return {
    figures: [
      {
        what: `turns of four rounds, ${MINDS} minds`,
        ours: `${whole(perSecond.median)} turns/s`,
        reference: `echo, 4 requests each: ${whole(spreadOf(rates.map(({ reference }) => reference)).median)}/s`,
        ratio: ratioOf(rates),
        goal: { text: `≥ ${whole(GOAL)} turns/s`, met: perSecond.median >= GOAL },
      },
    ],
    remarks: [`Turns: ${whole(perSecond.min)}–${whole(perSecond.max)} a second over the rounds. ${remark}`],
  };
};
