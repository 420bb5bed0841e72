import { type TSchema, Type } from '@sinclair/typebox';

import type { Levels, BuiltInLevel } from '../levels.js';
import { lostMap, type StoredLevel } from '../level-store.js';
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
import { ClientId, FreeObject } from '../../../kernel/http/schemas.js';

/** The request limit in bytes: Tiled writes maps with many spaces. The limit of a level itself is lower. */
const LEVEL_BODY_BYTES = MAX_ARCHIVED_BYTES;

const Counted = Type.Integer({ minimum: 0 });
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const summary = {
  levelId: Type.String(),
  digest: Type.String({ description: "The base64url SHA-256 of the map's JCS form." }),
  name: Type.String(),
  width: Type.Integer({ description: 'In tiles.' }),
  height: Type.Integer(),
  contents: Type.Object({
    goals: Counted,
    items: Counted,
    doors: Counted,
    hazards: Counted,
    npcs: Counted,
    triggers: Counted,
  }),
};
const listed = {
  ...summary,
  version: orNull(Type.Integer({ description: 'Null of a built-in level.' })),
  builtIn: Type.Boolean(),
  updatedAt: orNull(Type.String({ description: 'Null of a built-in level.' })),
};
export const ListedLevel = Type.Object(listed);
const Problem = Type.Object({ layer: orNull(Type.String()), object: orNull(Type.String()), problem: Type.String() });
const LevelParams = Type.Object({ levelId: ClientId });

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
      summary: 'Register a Tiled map as a level; another map makes a new version',
      description:
        'The JSON that Tiled exports as `.tmj`; `docs/reference/formats/level.md` says what its layers and properties mean. The map that is there already changes nothing.',
      params: LevelParams,
      bodyLimit: LEVEL_BODY_BYTES,
      body: FreeObject,
      responses: ok(
        'The level, and what in it looks like a mistake.',
        Type.Object({
          ...summary,
          version: Type.Integer({ minimum: 1 }),
          created: Type.Boolean({ description: 'Whether this is a new version.' }),
          warnings: Type.Array(Problem),
        }),
      ),
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
      summary: 'The built-in levels, then those of the studio, newest versions',
      query: Type.Object(pageQuery),
      responses: {
        200: { description: 'The levels, by id.', schema: Type.Array(ListedLevel), stream: 'finite' },
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
      summary: 'One level with its map, in the newest or the requested version',
      params: LevelParams,
      query: Type.Object({ version: Type.Optional(Type.Integer({ minimum: 1 })) }),
      responses: ok('The level.', Type.Object({ ...listed, map: FreeObject })),
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
      summary: 'Delete a level; its versions stay readable, unless they are to go, too',
      params: LevelParams,
      query: Type.Object({
        versions: Type.Optional(Type.Literal('all', { description: 'Drops the maps of all versions as well.' })),
      }),
      responses: ok('Deleted.', Type.Object({ levelId: Type.String(), deleted: Type.Literal(true) })),
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
