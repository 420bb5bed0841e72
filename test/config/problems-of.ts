import { expect } from 'vitest';

import type { Config } from '../../src/config/config.js';
import { StartProblem } from '../../src/kernel/base/start-problem.js';

type Env = Record<string, string>;

/** What reading an environment complains about, each on its own; nothing when it reads it. */
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

/** Reads of a file system that holds these files and no other. */
export const filesOf = (files: Readonly<Record<string, string>>) => ({
  isThere: (file: string): boolean => file in files,
  read: (file: string): string => {
    const content = files[file];
    if (content === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return content;
  },
});
