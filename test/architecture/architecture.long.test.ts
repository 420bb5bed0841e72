import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const repository = resolve(import.meta.dirname, '../..');
const load = createRequire(import.meta.url);
const { features, rows } = load(join(repository, 'scripts/layers.cjs')) as {
  features: readonly (readonly [name: string])[];
  rows: readonly { readonly folder: string }[];
};
const { forbidden } = load(join(repository, '.dependency-cruiser.cjs')) as { forbidden: readonly { name: string }[] };

const roots: string[] = [];

/** A separate tree with the given files, and this repository's packages. */
const plant = (files: ReadonlyMap<string, string>): string => {
  const root = mkdtempSync(join(tmpdir(), 'anima architecture '));
  roots.push(root);
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'), 'junction');
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ dependencies: { koa: '*', 'fast-check': '*' }, devDependencies: { vitest: '*' } }),
  );
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
};

/** A file and its import: a path from the root, or a package. */
type Import = readonly [from: string, to: string];

const specifier = ([from, to]: Import): string => {
  if (!/^(src|workflows|activities|projections|test|examples)\//.test(to)) return to;
  const path = posix.relative(posix.dirname(from), to).replace(/\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
};

/** Files with these imports, of this kind. Every imported file exists, unless it is named `nowhere`. */
const filesOf = (imports: readonly Import[], how: 'values' | 'types'): Map<string, string> => {
  const files = new Map<string, string>();
  for (const [index, [from, to]] of imports.entries()) {
    const line = `import ${how === 'types' ? 'type ' : ''}* as it${index} from '${specifier([from, to])}';\n`;
    files.set(from, `${files.get(from) ?? ''}${line}export type It${index} = typeof it${index};\n`);
    if (to.endsWith('.ts') && !to.includes('nowhere') && !files.has(to)) files.set(to, '');
  }
  return files;
};

const check = (files: ReadonlyMap<string, string>): { status: number | null; lines: readonly string[] } => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(repository, 'scripts/check-architecture.mjs'), plant(files)],
    { encoding: 'utf8' },
  );
  return { status, lines: `${stdout}${stderr}`.split('\n') };
};

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const inwards: readonly Import[] = [
  ['src/kernel/crypto/sha256.ts', 'src/kernel/base/json.ts'],
  ['src/ports/store.ts', 'src/kernel/base/json.ts'],
  ['src/kernel/streams/writer.ts', 'src/ports/store.ts'],
  ['src/features/rules/domain/decide.ts', 'src/kernel/crypto/sha256.ts'],
  ['src/features/npcs/domain/state.ts', 'src/features/rules/domain/decide.ts'],
  ['src/features/npcs/mind.ts', 'src/features/npcs/domain/state.ts'],
  ['src/features/npcs/mind.ts', 'src/kernel/streams/writer.ts'],
  ['src/features/npcs/http/routes.ts', 'src/features/npcs/mind.ts'],
  ['src/features/npcs/http/routes.ts', 'src/features/npcs/http/answer.ts'],
  ['src/features/npcs/cli/show.ts', 'src/features/npcs/http/answer.ts'],
  ['src/features/npcs/cli/show.ts', 'src/cli/shared/client.ts'],
  ['src/features/souls/export.ts', 'src/features/npcs/mind.ts'],
  ['src/features/souls/export.ts', 'workflows/soul-export.ts'],
  ['workflows/soul-export.ts', 'src/features/npcs/domain/state.ts'],
  ['workflows/soul-export.ts', 'src/kernel/processes/state-machine.ts'],
  ['workflows/temporal/shard.ts', 'src/kernel/processes/process-step.ts'],
  ['activities/advance.ts', 'src/kernel/processes/state-machine.ts'],
  ['activities/effects/soul-export.ts', 'src/features/souls/export.ts'],
  ['projections/npcs.ts', 'src/features/npcs/domain/state.ts'],
  ['src/adapters/temporal/runtime.ts', 'activities/advance.ts'],
  ['src/adapters/temporal/runtime.ts', 'workflows/temporal/shard.ts'],
  ['src/roles/routes.ts', 'src/features/npcs/http/routes.ts'],
  ['src/profiles/distributed.ts', 'src/adapters/temporal/runtime.ts'],
  ['src/profiles/distributed.ts', 'projections/npcs.ts'],
  ['src/server/server.ts', 'src/profiles/distributed.ts'],
  ['src/server/server.ts', 'src/roles/routes.ts'],
  ['src/server/server.ts', 'activities/effects/soul-export.ts'],
  ['src/cli/program.ts', 'src/features/npcs/cli/show.ts'],
  ['src/main.ts', 'src/server/server.ts'],
  ['src/main.ts', 'src/cli/program.ts'],
];

/** Each breaks the rule before it. */
const outwards: readonly (readonly [rule: string, ...Import])[] = [
  ['src/kernel/base', 'src/kernel/base/late.ts', 'src/kernel/crypto/sha256.ts'],
  ['src/kernel/model-text', 'src/kernel/model-text/late.ts', 'src/kernel/crypto/sha256.ts'],
  ['src/kernel/crypto', 'src/kernel/crypto/late.ts', 'src/ports/store.ts'],
  ['src/ports', 'src/ports/late.ts', 'src/kernel/concurrency/mutex.ts'],
  ['src/ports', 'src/ports/event.ts', 'src/features/npcs/domain/state.ts'],
  ['src/kernel/concurrency', 'src/kernel/concurrency/late.ts', 'src/kernel/streams/writer.ts'],
  ['src/kernel/streams', 'src/kernel/streams/late.ts', 'src/kernel/processes/step.ts'],
  ['src/kernel/processes', 'src/kernel/processes/late.ts', 'src/kernel/read-models/feed.ts'],
  ['src/kernel/read-models', 'src/kernel/read-models/late.ts', 'src/kernel/http/route.ts'],
  ['src/kernel/http', 'src/kernel/http/late.ts', 'src/features/npcs/mind.ts'],
  ['src/features/<feature>/domain', 'src/features/npcs/domain/mind.ts', 'src/features/npcs/mind.ts'],
  ['src/features/<feature>/domain', 'src/features/npcs/domain/writer.ts', 'src/kernel/streams/writer.ts'],
  ['src/features/<feature>', 'src/features/npcs/answer.ts', 'src/features/npcs/http/routes.ts'],
  ['src/features/<feature>', 'src/features/npcs/kinds.ts', 'src/roles/routes.ts'],
  ['src/features/<feature>', 'src/features/npcs/stored.ts', 'src/adapters/embedded/store.ts'],
  ['src/features/<feature>/http', 'src/features/turns/http/mind.ts', 'src/features/npcs/http/routes.ts'],
  ['src/features/<feature>/http', 'src/features/turns/http/services.ts', 'src/roles/services.ts'],
  ['src/features/<feature>/http', 'src/features/turns/http/text.ts', 'src/features/turns/cli/text.ts'],
  ['src/features/<feature>/cli', 'src/features/turns/cli/mind.ts', 'src/features/npcs/cli/show.ts'],
  ['src/features/<feature>/cli', 'src/features/turns/cli/answer.ts', 'src/features/npcs/http/routes.ts'],
  ['src/features/<feature>/cli', 'src/features/turns/cli/offline.ts', 'src/cli/offline.ts'],
  ['workflows', 'workflows/turn.ts', 'src/kernel/processes/process-repository.ts'],
  ['workflows', 'workflows/turn.ts', 'src/features/turns/step.ts'],
  ['machines-know-no-store', 'src/kernel/processes/process-step.ts', 'src/kernel/streams/writer.ts'],
  ['computed-from-arguments', 'src/kernel/read-models/row-order.ts', 'src/kernel/streams/writer.ts'],
  ['computed-from-arguments', 'src/features/npcs/cloud-event.ts', 'src/kernel/streams/writer.ts'],
  ['workflows/temporal', 'workflows/temporal/late.ts', 'workflows/turn.ts'],
  ['activities', 'activities/late.ts', 'activities/effects/turn.ts'],
  ['activities', 'activities/turn.ts', 'workflows/turn.ts'],
  ['activities/effects', 'activities/effects/late.ts', 'src/adapters/embedded/store.ts'],
  ['projections', 'projections/late.ts', 'src/features/npcs/mind.ts'],
  ['projections', 'projections/feed.ts', 'src/kernel/read-models/feed.ts'],
  ['src/adapters/embedded', 'src/adapters/embedded/runtime.ts', 'workflows/turn.ts'],
  ['src/adapters/temporal', 'src/adapters/temporal/late.ts', 'workflows/turn.ts'],
  ['src/config', 'src/config/late.ts', 'src/kernel/streams/writer.ts'],
  ['src/body', 'src/body/late.ts', 'src/kernel/base/json.ts'],
  ['src/roles', 'src/roles/late.ts', 'src/profiles/embedded.ts'],
  ['src/profiles', 'src/profiles/late.ts', 'src/server/server.ts'],
  ['src/cli/shared', 'src/cli/shared/late.ts', 'src/features/turns/turn.ts'],
  ['examples', 'examples/late.ts', 'src/kernel/base/json.ts'],
  ['feature-souls', 'src/features/souls/domain/late.ts', 'src/features/cards/domain/card.ts'],
  ['folder-has-a-row', 'src/app/late.ts', 'src/kernel/base/json.ts'],
  ['folder-has-a-row', 'src/features/pets/domain/pet.ts', 'src/kernel/base/json.ts'],
  ['routes-and-commands-are-listed-once', 'src/roles/http.ts', 'src/features/npcs/http/routes.ts'],
  ['routes-and-commands-are-listed-once', 'src/server/late.ts', 'src/features/npcs/http/routes.ts'],
  ['routes-and-commands-are-listed-once', 'src/cli/late.ts', 'src/features/npcs/cli/show.ts'],
  ['product-without-scaffolding', 'src/server/probe.ts', 'test/probe.ts'],
  ['no-cycles', 'src/kernel/base/one.ts', 'src/kernel/base/other.ts'],
];
/** Together with those above, they form a cycle of files and one of folders. */
const closing: readonly Import[] = [
  ['src/kernel/base/other.ts', 'src/kernel/base/one.ts'],
  ['src/kernel/crypto/sha256.ts', 'src/kernel/base/json.ts'],
];
/** Each feature imports the next one; the last one imports a feature that it must not build on. */
const backwards = features.map(
  ([name], index) =>
    [
      `feature-${name}`,
      `src/features/${name}/next.ts`,
      `src/features/${features[index + 1]?.[0] ?? 'keys'}/it.ts`,
    ] as const,
);
const adapters = rows.map(({ folder }) => folder).filter((folder) => folder.startsWith('src/adapters/'));
const between = adapters.map((folder) => {
  const other = folder === 'src/adapters/kafka' ? 'src/adapters/system' : 'src/adapters/kafka';
  return [folder, `${folder}/other.ts`, `${other}/it.ts`] as const;
});

/** One package for each package rule. */
const packages = [
  ...['koa', 'ajv', '@photostructure/sqlite', '@eventstore/db-client', '@temporalio/workflow', '@temporalio/client'],
  ...['kafkajs', 'pg', 'jose', 'safe-stable-stringify', 'multiformats/cid', 'csv-stringify'],
  ...[
    'lru-cache',
    'usearch',
    'pure-rand/distribution/uniformInt',
    're2js',
    'cel-js-2',
    'jsonrepair',
    'yauzl',
    'pino',
    'prom-client',
    'swagger-ui-dist',
  ],
  ...['fastest-levenshtein', 'tinyqueue', 'commander', 'yaml'],
];
const ofPackages: readonly Import[] = [
  ...packages.map((name) => ['src/roles/packages.ts', name] as const),
  ['src/main.ts', 'vitest'],
  ['src/cli/list.ts', 'knip'],
  ['src/cli/draw.ts', 'fast-check'],
  ['src/features/npcs/domain/disk.ts', 'node:fs'],
  ['src/kernel/concurrency/disk.ts', 'node:fs'],
  ['workflows/disk.ts', 'node:fs'],
  ['src/kernel/processes/process-step.ts', 'node:timers/promises'],
  ['src/features/npcs/cloud-event.ts', 'node:path'],
  ['src/kernel/base/cache.ts', 'lru-cache'],
  ['src/kernel/processes/process-step.ts', 'lru-cache'],
  ['src/features/npcs/domain/cache.ts', 'lru-cache'],
  ['src/features/npcs/http/cache.ts', 'lru-cache'],
  ['src/features/npcs/body-schemas.ts', '@sinclair/typebox'],
  ['src/features/npcs/listen.ts', 'node:http'],
  ['src/features/npcs/http/listen.ts', 'node:net'],
  ['src/kernel/read-models/disk.ts', 'node:fs'],
  ['src/features/npcs/domain/port.ts', 'src/ports/calibrated.ts'],
  ['src/ports/lost.ts', 'src/ports/nowhere.ts'],
];

describe('the architecture check', () => {
  it('passes a tree whose imports point inwards', () => {
    const files = filesOf(inwards, 'values');
    const { status, lines } = check(files);
    expect(lines).toEqual([`architecture: ${files.size} files looked at, 0 missed, 0 violations`, '']);
    expect(status).toBe(0);
  });

  it('lets a domain import types of ports', () => {
    const port: readonly Import[] = [['src/features/npcs/domain/port.ts', 'src/ports/calibrated.ts']];
    expect(check(filesOf(port, 'types')).status).toBe(0);
  });

  it('catches a violation of each rule, even if only a type is imported', () => {
    const broken = [...outwards, ...backwards, ...between];
    const ofFolders = check(
      new Map([
        ...filesOf([...broken.map(([, from, to]): Import => [from, to]), ...closing], 'types'),
        ['projections/alone.ts', 'export const alone = 1;\n'],
      ]),
    );
    const expected = broken.map(([rule, from, to]) => `${rule}: ${from} -> ${to}`);
    expect(expected.filter((line) => !ofFolders.lines.includes(line))).toEqual([]);
    expect(ofFolders.lines).toContain('no-orphans: projections/alone.ts');
    expect(ofFolders.lines).toContain('no-folder-cycles: src/kernel/base -> src/kernel/crypto');
    expect(ofFolders.status).toBe(1);

    const ofOthers = check(filesOf(ofPackages, 'values'));
    expect(ofOthers.lines).toEqual(
      expect.arrayContaining([
        'core-touches-nothing: src/features/npcs/domain/disk.ts -> fs',
        'core-touches-nothing: src/kernel/concurrency/disk.ts -> fs',
        'core-touches-nothing: workflows/disk.ts -> fs',
        'core-touches-nothing: src/kernel/processes/process-step.ts -> timers/promises',
        'core-touches-nothing: src/features/npcs/cloud-event.ts -> path',
        'use-cases-touch-the-world-through-ports: src/features/npcs/listen.ts -> http',
        'use-cases-touch-the-world-through-ports: src/features/npcs/http/listen.ts -> net',
        'use-cases-touch-the-world-through-ports: src/kernel/read-models/disk.ts -> fs',
        'domain-takes-types-of-ports: src/features/npcs/domain/port.ts -> src/ports/calibrated.ts',
        'no-unresolvable: src/ports/lost.ts -> ./nowhere.js',
        expect.stringMatching(/^no-development-packages-in-the-product: src\/main\.ts -> /),
        expect.stringMatching(/^no-undeclared-packages: src\/cli\/list\.ts -> /),
        expect.stringMatching(/^vendor-has-a-place: src\/cli\/draw\.ts -> /),
        expect.stringMatching(/^vendor-lru-cache: src\/kernel\/base\/cache\.ts -> /),
        expect.stringMatching(/^vendor-lru-cache: src\/kernel\/processes\/process-step\.ts -> /),
        expect.stringMatching(/^vendor-lru-cache: src\/features\/npcs\/domain\/cache\.ts -> /),
        expect.stringMatching(/^vendor-lru-cache: src\/features\/npcs\/http\/cache\.ts -> /),
        expect.stringMatching(/^vendor-ajv: src\/features\/npcs\/body-schemas\.ts -> /),
      ]),
    );

    const caught = new Set([...ofFolders.lines, ...ofOthers.lines].map((line) => line.split(': ')[0]));
    expect(forbidden.map(({ name }) => name).filter((name) => !caught.has(name))).toEqual([]);
  });

  it('fails when a file was not checked, instead of passing it', () => {
    const { status, lines } = check(new Map([['src/node_modules/unseen.ts', 'export const unseen = 1;\n']]));
    expect(lines).toContain('not looked at: src/node_modules/unseen.ts');
    expect(status).toBe(1);
  });

  it('fails on an empty tree', () => {
    const { status, lines } = check(new Map());
    expect(lines).toContain('architecture: 0 files looked at, 0 missed, 0 violations');
    expect(status).toBe(1);
  });
});
