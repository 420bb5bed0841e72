import { describe, expect, it } from 'vitest';

import { servedRoutes } from '../../scripts/served-routes.js';
import type { RouteDefinition } from '../../src/kernel/http/route.js';
import { documentOf, operationsOf } from '../support/openapi.js';

const MIB = 1024 * 1024;
const routes = servedRoutes();
const lineOf = ({ method, path }: Pick<RouteDefinition, 'method' | 'path'>): string => `${method} ${path}`;
const linesOf = (chosen: (route: RouteDefinition) => boolean): readonly string[] => routes.filter(chosen).map(lineOf);

describe('the routes of a server', () => {
  it('are those of the two families, and additions that are marked (ext) [1.1a, 1.1c]', () => {
    expect(linesOf(({ path, ext = false }) => !ext && path.startsWith('/v1/'))).toEqual([
      'POST /v1/agents/:agentId/memory',
      'POST /v1/agents/:agentId/memory/recall',
      'POST /v1/agents/:agentId/process',
      'POST /v1/agents/:agentId/soul/export',
      'POST /v1/ghost/run',
    ]);
    expect(linesOf(({ path, ext = false }) => !ext && !path.startsWith('/v1/'))).toEqual([
      'GET /npcs',
      'POST /npcs',
      'GET /npcs/:npcId',
      'POST /npcs/:npcId/process',
      'POST /npcs/:npcId/directive',
      'POST /npcs/:npcId/context',
      'POST /npcs/:npcId/verdict',
      'GET /npcs/:npcId/memory',
      'POST /npcs/:npcId/memory',
      'DELETE /npcs/:npcId/memory/clear',
      'POST /npcs/:npcId/memory/recall',
      'POST /npcs/:npcId/soul/export',
      'POST /npcs/:npcId/soul/confirm',
      'POST /npcs/import',
      'POST /npcs/import/confirm',
      'GET /souls',
      'GET /souls/:txId',
      'POST /souls/:txId/verify',
      'POST /bridge/validate',
      'POST /bridge/validate/:npcId',
      'GET /bridge/rules',
      'POST /rules',
      'GET /rules',
      'GET /rules/presets',
      'POST /rules/presets/:presetId',
      'DELETE /rules/:rulesetId',
      'POST /ghost/run',
      'GET /ghost/history',
      'GET /ghost/:sessionId/status',
      'POST /ghost/:sessionId/stop',
      'GET /ghost/:sessionId/results',
      'POST /archive',
      'GET /archive/:txId',
      'GET /cortex/models',
      'POST /cortex/init',
      'POST /cortex/:cortexId/complete',
      'GET /status',
    ]);
  });

  it('accept more than 1 MiB only in these requests [1.2q]', () => {
    const large = routes.flatMap((route) => {
      const { bodyLimit, bytes = [] } = route;
      const limits = [bytes].flat().map(({ accepts, maxBytes }) => [accepts, maxBytes] as const);
      if (bodyLimit !== undefined) limits.push(['application/json', bodyLimit]);
      return limits.filter(([, limit]) => limit !== MIB).map((limit) => [lineOf(route), ...limit]);
    });
    expect(large).toEqual([
      ['POST /npcs/:npcId/soul/confirm', 'application/json', 16 * MIB],
      ['POST /npcs/import/confirm', 'application/json', 16 * MIB],
      ['POST /npcs/:npcId/card', 'image/png', 16 * MIB],
      ['POST /npcs/:npcId/card', 'application/zip', 16 * MIB],
      ['POST /npcs/:npcId/card', 'image/jpeg', 16 * MIB],
      ['PUT /levels/:levelId', 'application/json', 16 * MIB],
      ['POST /ghost/replay', 'application/json', 16 * MIB],
      ['POST /archive', '*/*', 16 * MIB],
    ]);
  });
});

describe('an Idempotency-Key', () => {
  it('is accepted by every POST and PATCH of JSON, and by no other route [1.7a]', () => {
    const takes = operationsOf(documentOf(routes)).filter(({ parameters }) =>
      parameters.some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(takes.map(({ operationId }) => operationId)).toEqual(
      routes
        .filter(({ method, bytes }) => ['POST', 'PATCH'].includes(method) && bytes === undefined)
        .map(({ operationId }) => operationId),
    );
  });

  it('keeps the responses of these routes always, and of these never [1.7j, 1.7l, 1.7o]', () => {
    expect(linesOf(({ retention }) => retention === 'always').toSorted()).toEqual([
      'POST /cortex/:cortexId/complete',
      'POST /cortex/init',
      'POST /keys',
      'POST /tenants',
      'POST /v1/agents/:agentId/process',
    ]);
    expect(linesOf(({ retention }) => retention === 'never').toSorted()).toEqual([
      'POST /bridge/validate',
      'POST /player-tokens',
      'POST /rules/check',
      'POST /rules/test',
      'POST /v1/agents/:agentId/memory/recall',
      'POST /v1/agents/:agentId/prompt',
      'POST /verdicts/verify',
    ]);
    expect(linesOf(({ retention }) => typeof retention === 'function')).toEqual(['POST /npcs/:npcId/memory/recall']);
  });

  it('keeps no soul: these routes make their responses again [1.7k]', () => {
    expect(linesOf(({ restore }) => restore !== undefined)).toEqual([
      'POST /npcs/:npcId/soul/export',
      'POST /npcs/:npcId/soul/confirm',
      'POST /v1/agents/:agentId/soul/export',
    ]);
  });
});
