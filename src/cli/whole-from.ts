import { InvalidArgumentError } from 'commander';

/** Reads an option that is a whole number, from `least` on. */
export const wholeFrom =
  (least: number) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number from ${String(least)}.`);
  };
