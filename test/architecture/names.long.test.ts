import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** The output of the check for a tree with these files. */
const check = (files: Record<string, string>): { status: number | null; lines: readonly string[] } => {
  const root = mkdtempSync(join(tmpdir(), 'anima names '));
  roots.push(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const script = resolve(import.meta.dirname, '../../scripts/check-names.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' });
  return { status, lines: `${stdout}${stderr}`.split('\n') };
};

describe('the check of names', () => {
  it('rejects a type that two files export', () => {
    const { status, lines } = check({
      'src/kernel/a.ts': 'export type Row = string;\n',
      'workflows/b.ts': 'export interface Row {}\n',
    });
    expect(status).toBe(1);
    expect(lines).toContain('Row is exported by src/kernel/a.ts and workflows/b.ts');
  });

  it('rejects a function or a constant that two files export', () => {
    const { status, lines } = check({
      'src/kernel/a.ts': 'export const open = 1;\n',
      'projections/b.ts': 'export function open() {}\n',
    });
    expect(status).toBe(1);
    expect(lines).toContain('open is exported by src/kernel/a.ts and projections/b.ts');
  });

  it('lets each file have its own helpers and private types, and the client its own wire types', () => {
    const { status } = check({
      'src/kernel/a.ts': 'const open = 1;\ntype Row = typeof open;\nexport type Tape = Row;\n',
      'src/features/b.ts': 'const open = 2;\ntype Row = number;\nexport const two: Row = open;\n',
      'src/body/c.ts': 'export type Tape = string;\n',
    });
    expect(status).toBe(0);
  });

  it('fails when there is nothing to check', () => {
    expect(check({ 'README.md': '' }).status).toBe(1);
  });
});
