import { defined } from '../../../kernel/base/defined.js';
import { isObject, type Json, type JsonObject } from '../../../kernel/base/json.js';

export const moods = ['hostile', 'suspicious', 'neutral', 'friendly', 'loyal'] as const;
type Mood = (typeof moods)[number];
type Numbers = { readonly [name: string]: number };

/** The members of a state that every soul has. */
type NamedState = {
  readonly inventory: readonly string[];
  readonly skills: Numbers;
  readonly relationships: Numbers;
  readonly mood: Mood;
  readonly fear: number;
  readonly confidence: number;
};

/** A mind's data in the form that its soul has. */
export type SoulState = NamedState & {
  /** Every recorded member that is not a named one, or has an unexpected type. */
  readonly extra: JsonObject;
  /** The named members that are only defaults, sorted. */
  readonly filled: readonly (keyof NamedState)[];
};

const defaults: NamedState = { inventory: [], skills: {}, relationships: {}, mood: 'neutral', fear: 0, confidence: 0 };
/** Sorted. */
export const namedMembers = Object.keys(defaults).sort() as readonly (keyof NamedState)[];
const isNamed = (name: string): name is keyof NamedState => (namedMembers as readonly string[]).includes(name);

const isNumber = (value: Json): boolean => typeof value === 'number' && Number.isFinite(value);
const areNumbers = (value: Json): boolean => isObject(value) && Object.values(value).every(isNumber);
const fits: Readonly<Record<keyof NamedState, (value: Json) => boolean>> = {
  inventory: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  skills: areNumbers,
  relationships: areNumbers,
  mood: (value) => (moods as readonly Json[]).includes(value),
  fear: isNumber,
  confidence: isNumber,
};

/** The state of a soul made from a mind's data; `{}` and null give only the defaults. */
export const soulStateOf = (data: JsonObject | null): SoulState => {
  const recorded = Object.entries(data ?? {});
  const isTaken = ([name, value]: readonly [string, Json]): boolean => isNamed(name) && fits[name](value);
  const taken = Object.fromEntries(recorded.filter(isTaken)) as Partial<NamedState>;
  return {
    ...defaults,
    ...taken,
    extra: Object.fromEntries(recorded.filter((member) => !isTaken(member))),
    filled: namedMembers.filter((name) => !Object.hasOwn(taken, name)),
  };
};

/** The data that an import gives the mind: the recorded members, without the defaults. The inverse of `soulStateOf`. */
export const dataOf = ({ extra, filled, ...named }: SoulState): JsonObject => ({
  ...extra,
  ...Object.fromEntries(namedMembers.filter((name) => !filled.includes(name)).map((name) => [name, named[name]])),
});

/** What a soul gives the mind that it is imported into; members without a value are absent. */
export const broughtBy = ({
  persona,
  state,
  facts,
}: {
  readonly persona: string;
  readonly state: SoulState;
  readonly facts?: JsonObject;
}): { readonly persona?: string; readonly data?: JsonObject; readonly facts?: JsonObject } => {
  const data = dataOf(state);
  return {
    ...(persona === '' ? {} : { persona }),
    ...(Object.keys(data).length === 0 ? {} : { data }),
    ...defined({ facts }),
  };
};
