import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
const roots: string[] = [];

/** A tree of its own with the given files; what they import of packages is this repository's. */
const plant = (files: Record<string, string>): string => {
  const root = mkdtempSync(join(tmpdir(), 'anima architecture '));
  roots.push(root);
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'), 'junction');
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ dependencies: { koa: '*', pino: '*', 'fast-check': '*' }, devDependencies: { vitest: '*' } }),
  );
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
};

const check = (root: string): { status: number | null; lines: readonly string[] } => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(repository, 'scripts/check-architecture.mjs'), root],
    { encoding: 'utf8' },
  );
  return { status, lines: `${stdout}${stderr}`.split('\n') };
};

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const domain = { 'src/domain/npc/state.ts': 'export const state = 1;\n' };

describe('the architecture check', () => {
  it('passes a tree whose imports point inwards', () => {
    const { status, lines } = check(
      plant({
        ...domain,
        'src/ports/store.ts':
          "import type { state } from '../domain/npc/state.js';\nexport type Store = typeof state;\n",
        'src/app/run.ts':
          "import type { Store } from '../ports/store.js';\nexport const run = (store: Store) => store;\n",
      }),
    );
    expect(lines).toContain('architecture: 3 files looked at, 0 missed, 0 violations');
    expect(status).toBe(0);
  });

  it('catches every kind of planted violation, also when only a type is imported', () => {
    const { status, lines } = check(
      plant({
        ...domain,
        'src/adapters/embedded/store.ts':
          "import { state } from '../../domain/npc/state.js';\nexport const store = state;\n",
        'src/adapters/kafka/store.ts': "export { store } from '../embedded/store.js';\n",
        'src/domain/npc/leak.ts':
          "import type { store } from '../../adapters/embedded/store.js';\nexport type Leak = typeof store;\n",
        'src/domain/npc/disk.ts': "import { readFileSync } from 'node:fs';\nexport const disk = readFileSync;\n",
        'src/app/direct.ts': "export { store } from '../adapters/embedded/store.js';\n",
        'src/app/streams/turn.ts': "export { turn } from '../turns/turn.js';\n",
        'src/app/streams/writer.ts': 'export const writer = 1;\n',
        'src/app/turns/turn.ts': "export { writer as turn } from '../streams/writer.js';\n",
        'src/app/listen.ts': "import { createServer } from 'node:http';\nexport const listen = createServer;\n",
        'src/app/request.ts': "import type { Context } from 'koa';\nexport type Request = Context;\n",
        'src/body/shortcut.ts': "export { state } from '../domain/npc/state.js';\n",
        'src/config/load.ts': "export { probe } from '../../test/probe.js';\n",
        'src/http/route.ts': "export { main } from '../main.js';\n",
        'src/main.ts': "import { test } from 'vitest';\nexport const main = test;\n",
        'src/cli/list.ts': "import knip from 'knip';\nexport const list = knip;\n",
        'src/cli/draw.ts': "import fc from 'fast-check';\nexport const draw = fc;\n",
        'src/adapters/embedded/process-runtime.ts': "export { answer } from '../../../workflows/answer.js';\n",
        'src/adapters/temporal/worker.ts': 'export const worker = 1;\n',
        'src/adapters/embedded/process-actor.ts': "export { worker } from '../temporal/worker.js';\n",
        'src/ports/gone.ts': "export { gone } from './nowhere.js';\n",
        'workflows/turn.ts': "export { answer } from './answer.js';\nexport { store } from '../src/ports/store.js';\n",
        'workflows/answer.ts':
          "import type * as turn from './turn.js';\nexport const answer = (it: typeof turn) => it;\n",
        'src/ports/store.ts': 'export const store = 1;\n',
        'projections/alone.ts': 'export const alone = 1;\n',
        'test/probe.ts': 'export const probe = 1;\n',
      }),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'adapter-kafka: src/adapters/kafka/store.ts -> src/adapters/embedded/store.ts',
        'domain-stands-alone: src/domain/npc/leak.ts -> src/adapters/embedded/store.ts',
        'adapters-are-chosen-at-the-edge: src/domain/npc/leak.ts -> src/adapters/embedded/store.ts',
        'core-touches-nothing: src/domain/npc/disk.ts -> fs',
        'app-has-features: src/app/direct.ts -> src/adapters/embedded/store.ts',
        'app-streams: src/app/streams/turn.ts -> src/app/turns/turn.ts',
        'no-folder-cycles: src/app/streams -> src/app/turns',
        'app-touches-the-world-through-ports: src/app/listen.ts -> http',
        'body-is-a-client: src/body/shortcut.ts -> src/domain/npc/state.ts',
        'config-knows-nothing: src/config/load.ts -> test/probe.ts',
        'product-without-scaffolding: src/config/load.ts -> test/probe.ts',
        'nobody-imports-the-edge: src/http/route.ts -> src/main.ts',
        'no-unresolvable: src/ports/gone.ts -> ./nowhere.js',
        'state-machines-are-pure: workflows/turn.ts -> src/ports/store.ts',
        'no-cycles: workflows/answer.ts -> workflows/turn.ts',
        'no-orphans: projections/alone.ts',
        expect.stringMatching(/^vendor-koa: src\/app\/request\.ts -> /),
        expect.stringMatching(/^no-development-packages-in-the-product: src\/main\.ts -> /),
        expect.stringMatching(/^no-undeclared-packages: src\/cli\/list\.ts -> /),
        'the-embedded-runtime-drives-one-step: src/adapters/embedded/process-actor.ts -> src/adapters/temporal/worker.ts',
        'the-embedded-runtime-drives-one-step: src/adapters/embedded/process-runtime.ts -> workflows/answer.ts',
        expect.stringMatching(/^vendor-has-a-place: src\/cli\/draw\.ts -> /),
      ]),
    );
    expect(status).toBe(1);
  });

  it('fails when a file was not looked at, instead of finding nothing wrong with it', () => {
    const { status, lines } = check(plant({ 'src/node_modules/unseen.ts': 'export const unseen = 1;\n' }));
    expect(lines).toContain('not looked at: src/node_modules/unseen.ts');
    expect(status).toBe(1);
  });

  it('fails on an empty tree', () => {
    const { status, lines } = check(plant({}));
    expect(lines).toContain('architecture: 0 files looked at, 0 missed, 0 violations');
    expect(status).toBe(1);
  });
});
