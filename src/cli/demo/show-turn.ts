import type { PlayedLine } from './play-scene.js';
import type { SceneLine } from './scene/types.js';
import { actionText, plain, short, wrapped } from '../shared/text.js';

const INDENT = ' '.repeat(8);
const row = (label: string, text: string): string[] =>
  wrapped(text, `${INDENT}${' '.repeat(10)}`, `${INDENT}${label.padEnd(10)}`);

const accepted = (line: PlayedLine): string[] => {
  const changed = Object.keys(line.stateTransform).length > 0;
  const deed = line.action?.type === 'SPEAK' ? null : line.action;
  return [
    ...wrapped(`“${line.dialogue}”`, `${INDENT} `, INDENT),
    ...(deed === null ? [] : row('does', actionText(deed))),
    ...(changed ? row('changes', short(plain(line.stateTransform), 160)) : []),
  ];
};

const refused = (line: PlayedLine): string[] => {
  const what = line.refusedAction === null ? 'the answer of the model' : actionText(line.refusedAction);
  const rule = line.details['drRuleId'];
  return [
    ...row('REFUSED', `${what}: ${line.code ?? 'no code'}${typeof rule === 'string' ? `, rule ${rule}` : ''}`),
    ...row('reason', line.dialogue),
  ];
};

/** A played line for the terminal: what was said, the outcome, and the scene's reason for a refusal. */
export const showTurn = (line: PlayedLine, written: SceneLine): string[] => {
  const number = String(line.number).padStart(3);
  const best = line.recalled[0];
  return [
    ...wrapped(line.says, INDENT, `${number}  to ${line.name}: `),
    ...(best === undefined
      ? []
      : row(
          'recalls',
          `“${short(best.text, 62)}” (${best.similarity.toFixed(2)}${line.recalled.length === 1 ? '' : `, best of ${String(line.recalled.length)}`})`,
        )),
    ...(line.valid ? accepted(line) : refused(line)),
    ...(line.valid || line.surprise !== null || written.refused === undefined
      ? []
      : row('because', written.refused.because)),
    ...(line.surprise === null ? [] : row('UNEXPECTED', line.surprise)),
    '',
  ];
};
