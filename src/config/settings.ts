import { distributedSettings } from './settings/distributed-settings.js';
import { mindSettings } from './settings/mind-settings.js';
import { serverSettings } from './settings/server-settings.js';
import type { SettingDefinition } from './settings/setting.js';

const table = { ...serverSettings, ...mindSettings, ...distributedSettings } as const;

export type SettingName = keyof typeof table;

/** Every environment variable that Anima reads. The parser takes names, defaults and bounds from here. */
export const settings: Readonly<Record<SettingName, SettingDefinition>> = table;
export const settingNames = Object.keys(table) as readonly SettingName[];

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(table, name);

/** Settings with a list of accepted values. */
export type ChoiceName = {
  [Name in SettingName]: (typeof table)[Name] extends { readonly values: readonly string[] } ? Name : never;
}[SettingName];
/** An accepted value of a setting. */
export type ChoiceOf<Name extends ChoiceName> = (typeof table)[Name]['values'][number];

export const choicesOf = <Name extends ChoiceName>(name: Name): readonly ChoiceOf<Name>[] => table[name].values;

/** Settings whose value can also be in a file, which `<name>_FILE` names. */
export type SecretName = {
  [Name in SettingName]: `${Name}_FILE` extends SettingName ? Name : never;
}[SettingName];

/** What a whole number must be, for example "a number of milliseconds from 1 to 60000". */
export const boundsShown = ({ min = 0, max = 0, unit }: SettingDefinition): string => {
  const what = unit === 'percent' ? 'a percentage' : unit === undefined ? 'a number' : `a number of ${unit}`;
  return `${what} from ${String(min)} to ${String(max)}`;
};
