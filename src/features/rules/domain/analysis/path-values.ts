import type { Path } from '../conditions/path.js';
import type { PathValues } from './division.js';

const ANYTHING: PathValues = { are: 'anything', isSingle: false, isRequired: false };

/** What the bridge makes of an action's members (bridge/action.ts). Without a target there is none, and the type is always there. */
const ACTION_VALUES: Readonly<Record<string, PathValues>> = {
  type: { are: 'action types', isSingle: true, isRequired: true },
  target: { are: 'names', isSingle: true, isRequired: false },
  reason: { are: 'texts', isSingle: true, isRequired: false },
  confidence: { are: 'numbers', isSingle: true, isRequired: false },
};

/** Which values a path can lead to. @param numbers members of the state, or keys, that are one number wherever they are there */
export const valuesOf = ({ root, names, letter }: Path, numbers: ReadonlySet<string>): PathValues => {
  if (root === 'observation') return { are: 'texts', isSingle: true, isRequired: false };
  const [name = ''] = names;
  if (root === 'action' && names.length === 1 && letter === undefined && Object.hasOwn(ACTION_VALUES, name))
    return ACTION_VALUES[name] ?? ANYTHING;
  const key = [...(root === 'state' ? [] : [root]), ...names].join('.');
  return letter === undefined && numbers.has(key) ? { are: 'numbers', isSingle: true, isRequired: false } : ANYTHING;
};
