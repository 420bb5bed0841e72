import { percent, table } from '../report.js';
import { hitsOf, thresholdOf } from './figures.js';
import { type EvaluatedMind, halves, kinds } from './minds.js';
import type { Asked } from './ranked.js';
import { type Scorer, scorers } from './scorers.js';

export type Evaluation = {
  readonly embedder: string;
  readonly minds: readonly EvaluatedMind[];
  readonly asked: readonly Asked[];
  /** The same questions over the memories of all minds together. */
  readonly pooled: readonly Asked[];
};

const [product] = scorers as readonly [Scorer, ...Scorer[]];

const hitCells = (asked: readonly Asked[], scorer: Scorer): readonly string[] => {
  const { questions, first, five, reciprocal } = hitsOf(asked, scorer);
  return [String(questions), first.toFixed(2), five.toFixed(2), reciprocal.toFixed(2)];
};

/** The figures as tables in Markdown. */
export const qualityReport = ({ embedder, minds, asked, pooled }: Evaluation): string => {
  const ofHalf = (half: string, all = asked): readonly Asked[] => all.filter(({ question }) => question.half === half);
  const memories = minds.reduce((sum, mind) => sum + mind.memories.length, 0);
  const questions = minds.reduce((sum, mind) => sum + mind.questions.length, 0);
  const head = ['questions', 'first', 'among five', 'MRR'];
  const byKind = halves.flatMap((half) =>
    [...kinds.filter((kind) => kind !== 'nothing'), 'all'].map((kind) => [
      half,
      kind,
      ...hitCells(
        ofHalf(half).filter(({ question }) => kind === 'all' || question.kind === kind),
        product,
      ),
    ]),
  );
  const thresholds = halves.map((half) => {
    const { answered, right, neighbours, unrelated } = thresholdOf(ofHalf(half), product);
    return [half, percent(answered), percent(right), percent(neighbours), percent(unrelated)];
  });
  const compared = scorers.map((scorer) => [
    scorer.name,
    ...halves.flatMap((half) => hitCells(ofHalf(half), scorer).slice(1)),
    ...halves.flatMap((half) => hitCells(ofHalf(half, pooled), scorer).slice(1, 2)),
  ]);
  return [
    `${String(memories)} memories of ${String(minds.length)} minds, ${String(questions)} questions, embedder \`${embedder}\`.`,
    '',
    ...table([['half', 'kind', ...head], ...byKind]),
    '',
    ...table([['half', 'answered', 'right ones', 'neighbours', 'unrelated'], ...thresholds]),
    '',
    ...table([
      [
        'scored by',
        ...halves.flatMap((half) => [`${half}: first`, 'among five', 'MRR']),
        ...halves.map((half) => `one pool, ${half}: first`),
      ],
      ...compared,
    ]),
  ].join('\n');
};

const [BEGIN, END] = ['<!-- figures -->', '<!-- end of figures -->'];

/** The page with these figures in place of the earlier ones. @throws Error if it has no block for them */
export const withFigures = (page: string, text: string): string => {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`the page needs ${BEGIN} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n\n${text}\n\n${page.slice(to)}`;
};
