import { InvalidArgumentError } from 'commander';

/** Reads an option that is a whole number, from `least` on, and up to `most`. */
export const wholeFrom =
  (least: number, most?: number) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= (most ?? Infinity)) return Number(text);
    const to = most === undefined ? '' : ` to ${String(most)}`;
    throw new InvalidArgumentError(`It must be a whole number from ${String(least)}${to}.`);
  };
