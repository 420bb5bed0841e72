/** The vector at unit length; null for one that has no direction, or holds something other than numbers. */
export const unitVector = (numbers: ArrayLike<number>): Float32Array | null => {
  let squares = 0;
  for (let at = 0; at < numbers.length; at += 1) squares += (numbers[at] ?? NaN) ** 2;
  const length = Math.sqrt(squares);
  if (!(length > 0 && length < Infinity)) return null;
  return Float32Array.from(numbers, (number) => number / length);
};
