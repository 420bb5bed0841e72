import type { Json } from '../../../../kernel/base/json.js';

/** The types of values that a state rule can require. */
export const stateTypes = ['number', 'integer', 'string', 'boolean', 'array', 'object'] as const;
export type StateType = (typeof stateTypes)[number];

/** What becomes of a change that is not allowed. `leave_out` is the default: the rest of the change applies, and the verdict stays valid. */
export const onBreaks = ['leave_out', 'clamp', 'refuse'] as const;
export type OnBreak = (typeof onBreaks)[number];

/** Who writes a member of the state, and which values a model may give it. */
export type StateRule = {
  /** Names separated by `.`; `*` is any one name. It also covers everything below. */
  readonly path: string;
  /** A model changes nothing that the game writes. */
  readonly writer: 'game' | 'model';
  readonly type?: StateType;
  readonly min?: number;
  readonly max?: number;
  /** The most by which one verdict may change a number. */
  readonly step?: number;
  readonly values?: readonly Json[];
  /** Whether a model may remove the member. */
  readonly optional?: true;
  readonly onBreak?: OnBreak;
};

/** Members of the state that the game writes unless a set says otherwise. */
export const GAME_MEMBERS: readonly string[] = ['inventory', 'hp', 'mana', 'gold'];

/** How many state rules a set may have, how many names a path has, and how many values a rule lists. */
export const STATE_RULES = 64;
export const PATH_NAMES = 8;
export const LISTED_VALUES = 64;

export const namesOf = ({ path }: Pick<StateRule, 'path'>): readonly string[] => path.split('.');
