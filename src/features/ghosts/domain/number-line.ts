/** A cut in the number line: before or after a number. */
type Cut = { readonly at: number; readonly after: boolean };
/** The numbers between two cuts. */
export type Stretch = readonly [from: Cut, to: Cut];

/** All finite numbers. */
export const WHOLE_LINE: Stretch = [
  { at: -Infinity, after: true },
  { at: Infinity, after: false },
];

const compare = (one: Cut, other: Cut): number =>
  one.at === other.at ? Number(one.after) - Number(other.after) : one.at < other.at ? -1 : 1;

/** The same numbers in disjoint stretches. */
const joined = (stretches: readonly Stretch[]): readonly Stretch[] => {
  const apart: Stretch[] = [];
  const some = stretches.filter(([from, to]) => compare(from, to) < 0);
  for (const [from, to] of some.toSorted(([one], [other]) => compare(one, other))) {
    const last = apart.at(-1);
    if (last === undefined || compare(last[1], from) < 0) apart.push([from, to]);
    else if (compare(last[1], to) < 0) apart[apart.length - 1] = [last[0], to];
  }
  return apart;
};

/** Whether some number lies in all of these unions of stretches: found by one walk along the line. */
export const meet = (unions: readonly (readonly Stretch[])[]): boolean => {
  const ends = unions
    .flatMap(joined)
    .flatMap(([from, to]) => [
      { cut: from, step: 1 },
      { cut: to, step: -1 },
    ])
    // A stretch that ends here comes before one that begins here.
    .toSorted((one, other) => compare(one.cut, other.cut) || one.step - other.step);
  let within = 0;
  return ends.some(({ step }) => (within += step) === unions.length);
};
