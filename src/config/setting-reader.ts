import type { Environment } from './env.js';
import { boundsShown, type ChoiceName, type ChoiceOf, choicesOf, type SettingName, settings } from './settings.js';
import { integer } from './values.js';

/** Reads the value of a setting; null if it is invalid. */
type ReadValue<T> = (text: string) => T | null;
/** What a problem may show of an invalid value. */
type ShowValue = (text: string) => string;

/** Reads settings by the table. An invalid value adds a problem, which never shows a secret, and counts as absent. */
export type SettingReader = {
  /** The trimmed value; null if it is absent or empty. Defaults do not count. */
  readonly text: (name: SettingName) => string | null;
  /** The value or the default. */
  readonly value: <T>(name: SettingName, read: ReadValue<T>, shown?: ShowValue) => T;
  /** The value or null, for settings without a default. */
  readonly optional: <T>(name: SettingName, read: ReadValue<T>, shown?: ShowValue) => T | null;
  readonly whole: (name: SettingName) => number;
  readonly optionalWhole: (name: SettingName) => number | null;
  readonly choice: <Name extends ChoiceName>(name: Name) => ChoiceOf<Name>;
  readonly optionalChoice: <Name extends ChoiceName>(name: Name) => ChoiceOf<Name> | null;
  /** A value that the distributed profile requires; empty if it is absent or invalid. */
  readonly required: (name: SettingName, read: ReadValue<string>, shown?: ShowValue) => string;
  /** The absolute form of a path. */
  readonly path: (file: string) => string;
  /** The content of a file. @throws NodeJS.ErrnoException */
  readonly read: (file: string) => string;
  readonly isThere: (file: string) => boolean;
  readonly problems: string[];
};

const choicesShown = (values: readonly string[]): string =>
  values.length > 2 ? `one of ${values.join(', ')}` : values.map((value) => `"${value}"`).join(' or ');

export const createSettingReader = (
  env: Environment,
  files: Pick<SettingReader, 'path' | 'read' | 'isThere'>,
): SettingReader => {
  const problems: string[] = [];
  const text = (name: SettingName): string | null => {
    const given = env[name]?.trim() ?? '';
    return given === '' ? null : given;
  };
  const checked = <T>(
    name: SettingName,
    expected: string,
    read: ReadValue<T>,
    shown: ShowValue = JSON.stringify,
  ): T | null => {
    const given = text(name);
    const value = given === null ? null : read(given);
    if (given !== null && value === null) problems.push(`${name} must be ${expected}, not ${shown(given)}.`);
    return value;
  };
  const defaultOf = <T>(name: SettingName, read: ReadValue<T>): T => {
    const value = read(settings[name].default ?? '');
    if (value === null) throw new Error(`${name} has no valid default`);
    return value;
  };
  const optional: SettingReader['optional'] = (name, read, shown) =>
    checked(name, settings[name].expects ?? '', read, shown);
  const integerOf =
    (name: SettingName) =>
    (given: string): number | null =>
      integer(given, settings[name].min ?? 0, settings[name].max ?? 0);
  const optionalWhole: SettingReader['optionalWhole'] = (name) =>
    checked(name, boundsShown(settings[name]), integerOf(name));
  const choiceOf =
    <Name extends ChoiceName>(name: Name) =>
    (given: string): ChoiceOf<Name> | null =>
      choicesOf(name).find((value) => value === given) ?? null;
  const optionalChoice: SettingReader['optionalChoice'] = (name) =>
    checked(name, choicesShown(choicesOf(name)), choiceOf(name));
  return {
    ...files,
    problems,
    text,
    optional,
    optionalWhole,
    optionalChoice,
    value: (name, read, shown) => optional(name, read, shown) ?? defaultOf(name, read),
    whole: (name) => optionalWhole(name) ?? defaultOf(name, integerOf(name)),
    choice: (name) => optionalChoice(name) ?? defaultOf(name, choiceOf(name)),
    required: (name, read, shown) => {
      const example = settings[name].required ?? '';
      if (text(name) === null) problems.push(`${name} is required in the distributed profile, for example ${example}.`);
      return checked(name, `a value like ${example}`, read, shown) ?? '';
    },
  };
};
