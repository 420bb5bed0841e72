import { GENERATED, markdownTable, tableField } from './markdown.js';
import { type LinkTo, membersOf, nameIn, namesWithin, type Schema, typeOf } from './route-schemas.js';

/** The folder of the pages, relative to the repository. */
export const ROUTE_PAGES = 'docs/reference/routes';
/** No page is larger than this many bytes. If a tag does not fit, its schemas are on separate pages. */
const PAGE_BYTES = 12_000;
/** The longest example that a page shows, in characters: the first of these with which the page fits. */
const EXAMPLES = [2000, 800, 300, 0];
/** A code that this share of all routes has in common is named once, on the index page. */
const COMMON = 1 / 3;

type Media = {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
};
type Content = Readonly<Record<string, Media>>;
type Response = {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
};
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema?: Schema;
};
type Operation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly 'x-scopes'?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
};
/** The parts of an OpenAPI document that the pages show. */
export type OpenApiDocument = {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, Schema>> };
};
type Route = { readonly method: string; readonly path: string; readonly operation: Operation };
type Page = readonly [path: string, content: string];

const bytesOf = (text: string): number => Buffer.byteLength(text);

const slugOf = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const titleOf = ({ method, path }: Route): string => `\`${method} ${path}\``;

const routesOf = ({ paths }: OpenApiDocument): readonly Route[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

const errorSchemas: readonly string[] = ['Error', 'ShortError'];
/** Whether a response is a refusal in the form that all errors have. */
const isRefusal = ({ $ref, content = {} }: Response): boolean =>
  $ref !== undefined || Object.values(content).some(({ schema }) => errorSchemas.includes(nameIn(schema?.$ref ?? '')));

const ownResponses = ({ responses }: Operation): readonly (readonly [status: string, response: Response])[] =>
  Object.entries(responses).filter(([, response]) => !isRefusal(response));

/** The codes with which a route refuses, as the descriptions of its refusals name them. */
const codesOf = ({ responses }: Operation): readonly (readonly [status: string, codes: readonly string[]])[] =>
  Object.entries(responses)
    .filter(([, response]) => isRefusal(response))
    .map(([status, { description = '' }]) => [status, description.match(/(?<=`)[A-Z][A-Z_]+(?=`)/g) ?? []] as const)
    .filter(([, codes]) => codes.length > 0);

const commonCodes = (routes: readonly Route[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const code of routes.flatMap(({ operation }) => codesOf(operation).flatMap(([, codes]) => codes)))
    counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > routes.length * COMMON).map(([code]) => code);
};

/** What a page needs in addition to its routes. */
type Rest = {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly common: readonly string[];
  readonly link: LinkTo;
  readonly longestExample: number;
};

const MEMBERS = ['member', 'type', 'required', 'meaning'];
const memberTable = (schema: Schema, link: LinkTo): readonly string[] => {
  const members = membersOf(schema, link);
  return members.length === 0 ? [] : [...markdownTable(MEMBERS, members), ''];
};

const keyLine = ({ security = [], 'x-scopes': allowing = [], parameters = [] }: Operation): string => {
  const names = security.flatMap((each) => Object.keys(each));
  const key = names.includes('apiKey')
    ? `Scope: ${allowing.map((scope) => `\`${scope}\``).join(' or ')}.`
    : names.length === 0
      ? 'No key needed.'
      : 'Needs the `auiAuthHeader` of an export in `Authorization` instead of a key.';
  const isKeyed = parameters.some(({ name }) => name === 'Idempotency-Key');
  return isKeyed ? `${key} Accepts [\`Idempotency-Key\`](../conventions/idempotency.md).` : key;
};

const parameterTable = ({ parameters = [] }: Operation, link: LinkTo): readonly string[] => {
  const shown = parameters.filter(({ name }) => name !== 'Idempotency-Key');
  if (shown.length === 0) return [];
  const rows = shown.map(({ name, in: where, required, description, schema = {} }) => {
    const usual = schema.default === undefined ? '' : ` Default: \`${JSON.stringify(schema.default)}\`.`;
    const meaning = `${description ?? schema.description ?? ''}${usual}`.trim();
    return [
      `\`${name}\``,
      where,
      tableField(typeOf(schema, link)),
      required === true ? 'yes' : 'no',
      tableField(meaning),
    ];
  });
  return [...markdownTable(['parameter', 'in', 'type', 'required', 'meaning'], rows), ''];
};

/** Whether a schema describes nothing but bytes or text of a media type. */
const isOpaque = (type: string, { schema = {} }: Media): boolean =>
  !type.endsWith('json') ||
  (schema.format === 'binary' && schema.type === 'string') ||
  Object.keys(schema).length === 0;

const contentType = (content: Content, link: LinkTo): string =>
  [
    ...new Set(
      Object.entries(content).map(([type, media]) =>
        isOpaque(type, media) ? `\`${type}\`` : typeOf(media.schema ?? {}, link),
      ),
    ),
  ].join(' or ');

const bodyLine = ({ requestBody }: Operation, link: LinkTo): readonly string[] => {
  if (requestBody === undefined) return [];
  const { content, required } = requestBody;
  return [`Request body${required === true ? '' : ' (optional)'}: ${contentType(content, link)}.`, ''];
};

/** Response headers that most routes have; the pages of the conventions describe them. */
const COMMON_HEADERS = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Idempotency-Replayed', 'Anima-Warning'];

const headerLine = (operation: Operation): readonly string[] => {
  const names = new Set(ownResponses(operation).flatMap(([, { headers = {} }]) => Object.keys(headers)));
  const own = [...names].filter((name) => !COMMON_HEADERS.includes(name));
  return own.length === 0 ? [] : [`Response headers: ${own.map((name) => `\`${name}\``).join(', ')}.`, ''];
};

const responseTable = (operation: Operation, { link, common }: Rest): readonly string[] => {
  const rows = ownResponses(operation).map(([status, { description = '', content = {} }]) => [
    status,
    tableField(contentType(content, link)),
    tableField(description),
  ]);
  const codes = codesOf(operation).flatMap(([status, all]) => {
    const own = all.filter((code) => !common.includes(code));
    return own.length === 0 ? [] : [`${status} ${own.map((code) => `\`${code}\``).join(', ')}`];
  });
  return [
    ...markdownTable(['status', 'body', 'meaning'], rows),
    '',
    ...headerLine(operation),
    ...(codes.length === 0 ? [] : [`Errors: ${codes.join('; ')}.`, '']),
  ];
};

const exampleOf = ({ schema = {}, example, examples = {} }: Media, schemas: Rest['schemas']): unknown => {
  const named = schema.$ref === undefined ? schema : schemas[nameIn(schema.$ref)];
  return example ?? Object.values(examples)[0]?.value ?? named?.example ?? named?.examples?.[0];
};

const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const requestExample = ({ method, path, operation }: Route, { schemas, longestExample }: Rest): readonly string[] => {
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body = media === undefined ? undefined : exampleOf(media, schemas);
  if (body === undefined) return [];
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  if (text.length > longestExample) return [];
  const values = new Map(
    (operation.parameters ?? []).map(({ name, example, schema }) => [name, example ?? schema?.examples?.[0]]),
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (given, name: string) => {
    const value = values.get(name);
    return typeof value === 'string' || typeof value === 'number' ? encodeURIComponent(value) : given;
  });
  const url = `http://127.0.0.1:8080${filled}`;
  return [
    '<!-- not run: the example may need something that an earlier request makes -->',
    '',
    '```sh',
    `curl ${method === 'POST' ? '' : `-X ${method} `}${/[{}]/.test(url) ? shellQuoted(url) : url} \\`,
    ...(operation.security?.length === 0 ? [] : ['  -H "Authorization: Bearer $(cat .anima/owner-key)" \\']),
    `  -H 'Content-Type: ${type ?? 'application/json'}' \\`,
    `  -d ${shellQuoted(text)}`,
    '```',
    '',
  ];
};

const routeSection = (route: Route, rest: Rest): string => {
  const { operation } = route;
  const { operationId, summary, description, deprecated, tags } = operation;
  const marks = [...(tags.includes('(ext)') ? ['(ext)'] : []), ...(deprecated === true ? ['Deprecated.'] : [])];
  return [
    `## ${titleOf(route)} <a id="${operationId}"></a>`,
    '',
    [`${summary}.`, ...marks, keyLine(operation)].join(' '),
    '',
    ...(description === undefined ? [] : [description, '']),
    ...parameterTable(operation, rest.link),
    ...bodyLine(operation, rest.link),
    ...responseTable(operation, rest),
    ...requestExample(route, rest),
  ].join('\n');
};

const schemaSection = (name: string, level: string, { schemas, link }: Rest): string => {
  const schema = schemas[name] ?? {};
  const parts = (schema.allOf ?? []).flatMap(({ $ref }) => ($ref === undefined ? [] : [link(nameIn($ref))]));
  const members = memberTable(schema, link);
  const isPlainObject = schema.properties !== undefined && schema.oneOf === undefined && schema.anyOf === undefined;
  const kind =
    parts.length > 0
      ? `Has all members of ${parts.join(' and ')}.`
      : isPlainObject
        ? ''
        : `Type: ${typeOf(schema, link)}.`;
  const deciding =
    schema.discriminator === undefined ? '' : `The member \`${schema.discriminator.propertyName}\` says which.`;
  const text = [schema.description ?? '', kind, deciding].filter((part) => part !== '').join(' ');
  return [`${level} ${name} <a id="${name}"></a>`, '', ...(text === '' ? [] : [text, '']), ...members].join('\n');
};

const page = (title: string, intro: string, sections: readonly string[]): string =>
  `${[`# ${title}`, GENERATED, intro, ...sections].join('\n\n').trimEnd()}\n`.replaceAll(/\n{3,}/g, '\n\n');

/** Divides names into this many parts of about the same size; names with the same first letter stay together. */
const divided = (names: readonly string[], parts: number, sizeOf: (name: string) => number): readonly string[][] => {
  const total = names.reduce((sum, name) => sum + sizeOf(name), 0);
  const found: string[][] = [];
  let before = 0;
  let letter = '';
  for (const name of names) {
    const isNext = name.charAt(0) !== letter && before >= (total * found.length) / parts;
    if (isNext) found.push([]);
    found.at(-1)?.push(name);
    letter = name.charAt(0);
    before += sizeOf(name);
  }
  return found;
};

/** `-a-g`, unless it is the only part. */
const rangeOf = (names: readonly string[], isWhole: boolean): string =>
  isWhole ? '' : `-${names[0]?.charAt(0) ?? ''}-${names.at(-1)?.charAt(0) ?? ''}`.toLowerCase();

const pagesOfTag = (
  { name, description }: OpenApiDocument['tags'][number],
  routes: readonly Route[],
  shared: Pick<Rest, 'schemas' | 'common'>,
): readonly Page[] => {
  const slug = slugOf(name);
  const own = routes.map(({ operation }) => [
    operation.requestBody,
    ownResponses(operation).map(([, { content }]) => content),
    operation.parameters,
  ]);
  const names = [...namesWithin(own, shared.schemas)].sort();
  const intro = `${description} The [index](index.md) says what all routes have in common.`;
  const linkFrom =
    (here: string, fileOf: (name: string) => string): LinkTo =>
    (schema) => {
      if (errorSchemas.includes(schema)) return `[${schema}](../conventions/errors.md)`;
      return `[${schema}](${fileOf(schema) === here ? '' : fileOf(schema)}#${schema})`;
    };
  const fits = (pages: readonly Page[]): boolean => pages.every(([, content]) => bytesOf(content) <= PAGE_BYTES);
  /** The page of the routes, followed by other sections. */
  const main = (link: LinkTo, more: readonly string[] = []): Page => {
    const withExamples = EXAMPLES.map((longestExample): Page => {
      const sections = routes.map((route) => routeSection(route, { ...shared, link, longestExample }));
      return [`${ROUTE_PAGES}/${slug}.md`, page(name, intro, [...sections, ...more])];
    });
    return withExamples.find((one) => fits([one])) ?? withExamples[0] ?? ['', ''];
  };
  const sectionOf = (schema: string, level: string, link: LinkTo): string =>
    schemaSection(schema, level, { ...shared, link, longestExample: 0 });
  const local = linkFrom('', () => '');
  const sections = names.map((schema) => sectionOf(schema, '###', local));
  const together = main(local, names.length === 0 ? [] : ['## Schemas', ...sections]);
  if (fits([together])) return [together];
  const split = (count: number): readonly Page[] => {
    const parts = divided(names, count, (schema) => sectionOf(schema, '##', local).length);
    const files = parts.map((part) => `${slug}-schemas${rangeOf(part, parts.length === 1)}.md`);
    const fileOf = (schema: string): string => files[parts.findIndex((part) => part.includes(schema))] ?? '';
    const pages = parts.map((part, at): Page => {
      const here = files[at] ?? '';
      const link = linkFrom(here, fileOf);
      const about = `The bodies that the [routes of ${name}](${slug}.md) accept and return.`;
      return [
        `${ROUTE_PAGES}/${here}`,
        page(
          `Schemas of ${name}`,
          about,
          part.map((schema) => sectionOf(schema, '##', link)),
        ),
      ];
    });
    return [main(linkFrom(`${slug}.md`, fileOf)), ...pages];
  };
  return [1, 2, 3, 4].map(split).find(fits) ?? split(4);
};

const indexPage = (
  groups: readonly (readonly [tag: OpenApiDocument['tags'][number], routes: readonly Route[]])[],
  common: readonly string[],
): string =>
  page(
    'Routes',
    `Every route of the server by subject. The same information as data is at \`GET /openapi.json\`, and \`GET /docs\` shows it with a form to send requests.`,
    [
      'Send `Authorization: Bearer <key>`; a route names the scope that the key needs. Bodies are JSON unless a route says otherwise. Routes marked (ext) are additions of this server.',
      'In the tables, `name[]` is each item of an array, `name.*` each value of a map, and `name(Label)` one of several alternatives.',
      `Errors have the [form of all errors](../conventions/errors.md).${
        common.length === 0
          ? ''
          : ` Many routes answer with these codes, which the pages do not repeat: ${common.map((code) => `\`${code}\``).join(', ')}.`
      }`,
      ...groups.map(([{ name, description }, routes]) =>
        [
          `## [${name}](${slugOf(name)}.md)`,
          '',
          description,
          '',
          ...routes.map((route) => `- [${titleOf(route)}](${slugOf(name)}.md#${route.operation.operationId})`),
        ].join('\n'),
      ),
    ],
  );

/** The reference of all routes: an index, and one page for each tag. A tag with large schemas has a second page for them. */
export const routePages = (document: OpenApiDocument): readonly Page[] => {
  const routes = routesOf(document);
  const { schemas = {} } = document.components;
  const common = commonCodes(routes);
  const groups = document.tags
    .map((tag) => [tag, routes.filter(({ operation }) => operation.tags[0] === tag.name)] as const)
    .filter(([, own]) => own.length > 0);
  return [
    [`${ROUTE_PAGES}/index.md`, indexPage(groups, common)],
    ...groups.flatMap(([tag, own]) => pagesOfTag(tag, own, { schemas, common })),
  ];
};
