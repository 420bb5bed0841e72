import { expect } from 'vitest';

import type { Config } from '../../src/config/config.js';
import { StartProblem } from '../../src/kernel/base/start-problem.js';

type Env = Record<string, string>;

/** The problems of an environment, one per entry; empty if it is valid. */
export const problemsOf =
  (parse: (env: Env) => Config | Config[keyof Config]) =>
  (env: Env): string[] => {
    try {
      parse(env);
    } catch (problem) {
      expect(problem).toBeInstanceOf(StartProblem);
      return (problem as Error).message.split('\n');
    }
    return [];
  };

/** Reads of a file system with these files only. */
export const filesOf = (files: Readonly<Record<string, string>>) => ({
  isThere: (file: string): boolean => file in files,
  read: (file: string): string => {
    const content = files[file];
    if (content === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return content;
  },
});
