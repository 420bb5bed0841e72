/** A row of scripts/layers.cjs. */
export type Layer = {
  readonly folder?: string;
  readonly files?: readonly string[];
  readonly holds: string;
  readonly imports: readonly string[] | null;
};

const BEGIN = '<!-- made from scripts/layers.cjs by `npm run generate` -->';
const END = '<!-- end -->';

const code = (path: string): string => `\`${path.replace(/\/$/, '')}\``;
const short = (path: string): string => code(path.replace(/^src\//, ''));

const importsOf = ({ imports }: Layer): string => {
  if (imports === null) return 'anything';
  return imports.length === 0 ? 'nothing' : imports.map(short).join(', ');
};

const table = (layers: readonly Layer[]): string => {
  const rows = [
    ['folder', 'what is in it', 'it imports, besides itself'],
    ...layers.map((layer) => [
      (layer.files ?? [layer.folder ?? '']).map(code).join(', '),
      layer.holds,
      importsOf(layer),
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
};

/**
 * A page with its import table made again.
 * @throws Error when the page has no place for it
 */
export const withImportTable = (page: string, layers: readonly Layer[]): string => {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new Error(`the page has no place for the table: ${BEGIN} ... ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table(layers)}\n\n${page.slice(end)}`;
};
