import { type TSchema, Type } from '@sinclair/typebox';

import type { Levels, BuiltInLevel } from '../levels.js';
import { lostMap, type StoredLevel } from '../level-store.js';
import { levelExamples as examples } from './examples.js';
import { listAfter, rowsBefore } from '../list-after.js';
import { defined } from '../../../kernel/base/defined.js';
import type { JsonObject } from '../../../kernel/base/json.js';
import { Rejection } from '../../../kernel/base/rejection.js';
import type { Ports } from '../../../ports/ports.js';
import { MAX_ARCHIVED_BYTES } from '../../../ports/soul-archive.js';
import { levels as levelRows } from '../../../../projections/levels.js';
import { contextOf, ok, route, type RouteDefinition } from '../../../kernel/http/route.js';
import { answerList } from '../../../kernel/http/list-answer.js';
import { pageOf, pageQuery } from '../../../kernel/http/page.js';
import { JSON_TYPE } from '../../../kernel/http/respond.js';
import { named } from '../../../kernel/http/named.js';
import { LevelProblemSchema } from '../../../kernel/http/openapi/error-details.js';
import { FreeObject, pathClientId } from '../../../kernel/http/schemas.js';

/** The request limit in bytes: Tiled writes maps with many spaces. The limit of a level itself is lower. */
const LEVEL_BODY_BYTES = MAX_ARCHIVED_BYTES;

const Counted = Type.Integer({ minimum: 0 });
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const summary = {
  levelId: Type.String(),
  digest: Type.String({ description: "The SHA-256 of the map's JCS form, base64url." }),
  name: Type.String(),
  width: Type.Integer({ description: 'In tiles.' }),
  height: Type.Integer(),
  contents: named(
    'LevelContents',
    Type.Object({
      goals: Counted,
      items: Counted,
      doors: Counted,
      hazards: Counted,
      npcs: Counted,
      triggers: Counted,
    }),
  ),
};
const listed = {
  ...summary,
  version: orNull(Type.Integer({ description: 'Null for a built-in level.' })),
  builtIn: Type.Boolean(),
  updatedAt: orNull(Type.String({ description: 'Null for a built-in level.' })),
};
export const ListedLevel = named('ListedLevel', Type.Object(listed));
const LevelList = named('LevelList', Type.Array(ListedLevel));
const TiledMap = named(
  'TiledMap',
  Type.Unsafe<JsonObject>({ ...FreeObject, description: 'A map as Tiled exports it to JSON (`.tmj`).' }),
);
const Level = named('Level', Type.Object({ ...listed, map: TiledMap }));
const RegisteredLevel = named(
  'RegisteredLevel',
  Type.Object({
    ...summary,
    version: Type.Integer({ minimum: 1 }),
    created: Type.Boolean({ description: 'Whether this is a new version.' }),
    warnings: Type.Array(LevelProblemSchema, { description: 'Parts of the map that look like mistakes.' }),
  }),
);
const DeletedLevel = named('DeletedLevel', Type.Object({ levelId: Type.String(), deleted: Type.Literal(true) }));
const LevelParams = Type.Object({ levelId: pathClientId('The id of the level.', 'cellar') });

const shownBuiltIn = ({ levelId, digest, summary: of }: BuiltInLevel): JsonObject => ({
  levelId,
  version: null,
  digest,
  ...of,
  builtIn: true,
  updatedAt: null,
});

const shownStored = ({ put: { warnings: _, bytes: __, ...put }, at }: StoredLevel): JsonObject => ({
  ...put,
  builtIn: false,
  updatedAt: at,
});

const refuseBuiltIn = (levelId: string): Rejection => new Rejection('LEVEL_BUILT_IN', { details: { levelId } });

const common = { tag: 'Levels', scope: 'ghosts', ext: true } as const;

type LevelRouteDeps = {
  readonly ports: Ports;
  readonly levels: Levels;
  /** Raises GHOST_RUNNING while a session of the tenant plays the level; `position` is what the caller has written so far. */
  readonly requireUnplayed: (tenant: string, levelId: string, position: number) => Promise<void>;
};

/** The routes under `/levels`. */
export const levelRoutes = ({ ports, levels, requireUnplayed }: LevelRouteDeps): readonly RouteDefinition[] => {
  const builtIn = new Map(levels.builtIn.map((level) => [level.levelId, level]));
  const first = rowsBefore(levels.builtIn.map(shownBuiltIn));
  const listing = { readModels: listAfter(first, ports.readModels), projection: levelRows };

  return [
    route('PUT', '/levels/:levelId', {
      ...common,
      operationId: 'putLevel',
      summary: 'Register a Tiled map as a level',
      description: 'A changed map makes a new version; the same map changes nothing.',
      params: LevelParams,
      bodyLimit: LEVEL_BODY_BYTES,
      body: TiledMap,
      example: examples.map,
      refuses: ['LEVEL_BUILT_IN', 'LEVELS_FULL', 'CONFLICT', 'LEVEL_INVALID'],
      responses: ok('The level.', RegisteredLevel, examples.registered),
      handler: async (call) => {
        const { levelId } = call.params;
        if (builtIn.has(levelId)) throw refuseBuiltIn(levelId);
        const { put, created, position } = await levels.put(levelId, call.body, contextOf(call));
        const { bytes: _, ...body } = put;
        return { position, body: { ...body, created } };
      },
    }),
    route('GET', '/levels', {
      ...common,
      operationId: 'listLevels',
      summary: 'List levels',
      description: 'The built-in levels first, then the latest versions of your own.',
      query: Type.Object(pageQuery),
      responses: {
        200: { description: 'The levels, ordered by id.', schema: LevelList, example: examples.list, stream: 'finite' },
      },
      handler: async (call) => {
        const page = pageOf(call.query);
        await ports.readModels.reachedPosition(levelRows, call.wrote);
        return answerList(call, page, {
          ...listing,
          query: { partition: call.principal.tenant, direction: 'ascending' },
          show: (row) => {
            const { tenant: _, ...level } = row as JsonObject;
            return { builtIn: false, ...level };
          },
        });
      },
    }),
    route('GET', '/levels/:levelId', {
      ...common,
      operationId: 'getLevel',
      summary: 'Get a level with its map',
      params: LevelParams,
      query: Type.Object({
        version: Type.Optional(Type.Integer({ minimum: 1, description: 'The latest version by default.' })),
      }),
      refuses: ['LEVEL_NOT_FOUND'],
      responses: ok('The level.', Level, examples.level),
      handler: async (call) => {
        const { levelId } = call.params;
        const { version } = call.query;
        const own = version === undefined ? builtIn.get(levelId) : undefined;
        if (own !== undefined) return withMap(shownBuiltIn(own), own.map);
        const found = builtIn.has(levelId) ? null : await levels.find(call.principal.tenant, levelId, version);
        if (found === null) throw new Rejection('LEVEL_NOT_FOUND', { details: { levelId, ...defined({ version }) } });
        const map = await levels.mapOf(found.put.digest);
        if (map === null) throw lostMap(found.put);
        return withMap(shownStored(found), map);
      },
    }),
    route('DELETE', '/levels/:levelId', {
      ...common,
      operationId: 'deleteLevel',
      summary: 'Delete a level',
      description: 'Its versions stay readable unless you delete them too.',
      params: LevelParams,
      query: Type.Object({
        versions: Type.Optional(Type.Literal('all', { description: 'Also delete the maps of all versions.' })),
      }),
      refuses: ['LEVEL_NOT_FOUND', 'LEVEL_BUILT_IN', 'GHOST_RUNNING', 'CONFLICT'],
      responses: ok('The level is deleted.', DeletedLevel, examples.deleted),
      handler: async (call) => {
        const { levelId } = call.params;
        if (builtIn.has(levelId)) throw refuseBuiltIn(levelId);
        const { versions } = call.query;
        if (versions === 'all') await requireUnplayed(call.principal.tenant, levelId, call.wrote);
        const { position } = await levels.remove({ levelId, ...defined({ versions }) }, contextOf(call));
        return { position, body: { levelId, deleted: true } };
      },
    }),
  ];
};

/** A level with its map, which is JSON already: it is not parsed to be written again. */
const withMap = (level: JsonObject, map: string) => ({
  raw: { type: JSON_TYPE, content: `${JSON.stringify(level).slice(0, -1)},"map":${map}}` },
});
