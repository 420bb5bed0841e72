type Optional<T> = { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };
type Required<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] };

/** Removes undefined members, so that optional members are absent, as JSON and the types of this project require. */
export const defined = <T extends object>(members: T): Optional<T> & Required<T> => {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) kept[name] = value;
  return kept as Optional<T> & Required<T>;
};
