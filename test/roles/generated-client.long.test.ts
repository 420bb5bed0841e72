import { execFile } from 'node:child_process';
import { copyFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { openEmbeddedServer } from '../support/embedded-server.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, '../..');
const modules = join(repository, 'node_modules');
const require = createRequire(import.meta.url);

/** Requirements for the document beyond those of a generator. */
const lint = `extends: []
rules:
  struct: error
  no-unresolved-refs: error
  no-invalid-media-type-examples: error
  no-invalid-schema-examples: error
  operation-operationId-unique: error
  operation-operationId-url-safe: error
  operation-parameters-unique: error
  path-parameters-defined: error
  path-declaration-must-exist: error
  no-identical-paths: error
  spec-components-invalid-map-name: error
  security-defined: error
`;

const compilerOptions = {
  ...{ target: 'es2022', module: 'nodenext', outDir: 'out', skipLibCheck: true, types: ['node'] },
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
};

describe('a client generated from the document', () => {
  it('comes from a valid OpenAPI 3.1 document, compiles in strict mode, and plays a turn', async () => {
    await using server = await openEmbeddedServer();
    await using directory = await temporaryDirectory();
    const at = (name: string): string => join(directory.path, name);
    const document = await (await fetch(`${server.url}/openapi.json`)).text();
    await writeFile(at('openapi.json'), document);
    await writeFile(at('redocly.yaml'), lint);
    await writeFile(at('package.json'), '{"type": "module"}');
    await writeFile(at('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['play.ts'] }));
    await symlink(modules, at('node_modules'));
    await copyFile(join(repository, 'test/fixtures/generated-client.txt'), at('play.ts'));
    const inside = { cwd: directory.path };

    const generate = join(dirname(require.resolve('openapi-typescript/package.json')), 'bin/cli.js');
    expect(require.resolve('openapi-fetch')).toContain(modules);
    await run(process.execPath, [generate, 'openapi.json', '-o', 'api.d.ts', '-c', 'redocly.yaml'], inside);
    await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', '.'], inside);
    const { stdout } = await run(process.execPath, ['out/play.js', server.url, server.ownerKey], inside);
    expect(JSON.parse(stdout)).toEqual({
      ...{ valid: true, dialogue: 'A room costs three coins.', signed: true, action: 'SPEAK' },
      ...{ status: 404, npcId: 'nobody' },
    });
  });
});
