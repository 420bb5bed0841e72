import { InvalidArgumentError } from 'commander';

/** Parses a whole number from `least` to `most`. */
export const wholeFrom =
  (least: number, most?: number) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= (most ?? Infinity)) return Number(text);
    const range = most === undefined ? ` of at least ${String(least)}` : ` from ${String(least)} to ${String(most)}`;
    throw new InvalidArgumentError(`It must be a whole number${range}.`);
  };
