import { resolve } from 'node:path';
import { ESLint } from 'eslint';
import { beforeAll, describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
const eslint = new ESLint({ cwd: repository });

/** The rules that a text breaks when it replaces a file of this repository. */
const broken = async (filePath: string, text: string): Promise<readonly string[]> => {
  const [result] = await eslint.lintText(text, { filePath: resolve(repository, filePath) });
  return result?.messages.map(({ ruleId, message }) => ruleId ?? message) ?? [];
};

const pure = 'src/kernel/crypto/uuid.ts';

// The first check compiles the entire project for its types.
beforeAll(() => broken(pure, ''), 120_000);

describe('the lint rules', () => {
  it('accept a pure function', async () => {
    expect(await broken(pure, 'export const double = (value: number): number => 2 * value;\n')).toEqual([]);
  });

  it.each([
    ['the time', 'export const at = (): number => Date.now();\n', 'no-restricted-properties'],
    ['the time as a date', 'export const at = (): Date => new Date();\n', 'no-restricted-syntax'],
    ['chance', 'export const draw = (): number => Math.random();\n', 'no-restricted-properties'],
    [
      'drawn ids',
      "import { randomUUID } from 'node:crypto';\nexport const id = (): string => randomUUID();\n",
      '@typescript-eslint/no-restricted-imports',
    ],
    ['timers', 'export const wait = (run: () => void): unknown => setTimeout(run, 1);\n', 'no-restricted-globals'],
    [
      'the environment',
      "export const home = (): string | undefined => process.env['HOME'];\n",
      'no-restricted-properties',
    ],
    [
      'the environment by import',
      "import { env } from 'node:process';\nexport const all = env;\n",
      'no-restricted-imports',
    ],
    [
      'events that are cast and not decoded',
      "import type { NpcEvent } from '../../features/npcs/domain/events.js';\nexport const known = (stored: object): NpcEvent => stored as unknown as NpcEvent;\n",
      'no-restricted-syntax',
    ],
    ['barrels', "export * from './sha256.js';\n", 'no-restricted-syntax'],
    ['any', 'export const first = (list: any[]): unknown => list[0];\n', '@typescript-eslint/no-explicit-any'],
    [
      'promises that nobody waits for',
      'export const start = (run: () => Promise<void>): void => {\n  run();\n};\n',
      '@typescript-eslint/no-floating-promises',
    ],
  ])('reject %s in the kernel', async (_, text, rule) => {
    expect(await broken(pure, text)).toContain(rule);
  });

  it.each([
    'src/kernel/streams/hash-chain.ts',
    'src/features/npcs/domain/state.ts',
    'src/features/npcs/find-mind.ts',
    'src/features/npcs/http/routes.ts',
    'activities/advance.ts',
  ])('reject the current time in %s too', async (file) => {
    expect(await broken(file, 'export const at = (): number => Date.now();\n')).toContain('no-restricted-properties');
  });

  it('leave the time and the console to commands', async () => {
    const command = 'export const at = (): void => console.log(Date.now());\n';
    expect(await broken('src/features/npcs/cli/history.ts', command)).toEqual([]);
    expect(await broken('src/features/npcs/find-mind.ts', command)).toContain('no-console');
  });

  it('reject a test marked as the only one', async () => {
    expect(
      await broken(
        'test/scripts/prepare.long.test.ts',
        "import { it } from 'vitest';\nit.only('alone', () => undefined);\n",
      ),
    ).toContain('no-restricted-syntax');
  });

  it('let only one file read the environment', async () => {
    const restricted = async (file: string): Promise<string> => {
      const config = (await eslint.calculateConfigForFile(resolve(repository, file))) as {
        rules: Record<string, unknown>;
      };
      return JSON.stringify(config.rules['no-restricted-properties']);
    };
    expect(await restricted('src/config/env.ts')).not.toContain('"env"');
    expect(await restricted('src/config/config.ts')).toContain('"env"');
    expect(await restricted('src/cli/anima.ts')).toContain('"env"');
    expect(await restricted('src/main.ts')).toContain('"env"');
  });
});
