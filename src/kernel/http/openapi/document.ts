import { drained, type Sliced } from '../../base/sliced.js';
import { apiVersion } from '../api-version.js';
import type { RouteDefinition } from '../route.js';
import { routeTags } from '../tags.js';
import { Components, type Doc } from './components.js';
import { ErrorCode } from './error-schemas.js';
import { operationOf, tagsOf } from './operation.js';
import { responsesOf, sharedResponses } from './responses.js';

/** A path as OpenAPI writes it: `/npcs/{npcId}`. */
export const templatePath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** The credentials of the one route that accepts a grant instead of a key. */
const grant: Doc = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'The `auiAuthHeader` of a soul export: permission to upload its payload.',
};

const apiKey: Doc = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key. The first start of a server writes the owner key to `owner-key` in its data directory, by default `.anima/owner-key`. `npx anima keys issue` issues others.',
};

const description = `The mind of game NPCs, as a service.

Send \`Authorization: Bearer <key>\` and JSON. The owner key is in \`.anima/owner-key\` on the server, and \`npx anima keys issue\` issues others. Routes tagged \`(ext)\` are additions of this server.`;

/**
 * Makes an OpenAPI 3.1 document from the route definitions. A slice is half a route: the whole document takes a few tenths of a second when it is made
 * for the first time.
 * @throws Error when two schemas share a name
 */
export function* openApiSlices(routes: readonly RouteDefinition[]): Sliced<Doc> {
  const components = new Components();
  const { responses, headers } = sharedResponses(components);
  components.response(ErrorCode);
  yield 1;
  const answers: Doc[] = [];
  for (const definition of routes) {
    answers.push(responsesOf(definition, components));
    yield 1;
  }
  const paths: Record<string, Doc> = {};
  for (const [at, definition] of routes.entries()) {
    const path = templatePath(definition.path);
    const operation = { ...operationOf(definition, components), responses: answers[at] };
    paths[path] = { ...paths[path], [definition.method.toLowerCase()]: operation };
    yield 1;
  }
  const used = new Set(routes.flatMap(tagsOf));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Anima',
      version: apiVersion,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Array.from(routeTags, ([name, described]) => ({ name, description: described })).filter(({ name }) =>
      used.has(name),
    ),
    paths,
    components: {
      securitySchemes: { apiKey, grant },
      headers,
      responses,
      schemas: components.schemas,
    },
  };
}

/** The document in one piece, for whoever serves nobody. */
export const openApi = (routes: readonly RouteDefinition[]): Doc => drained(openApiSlices(routes));
