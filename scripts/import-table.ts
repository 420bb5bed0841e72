/** What scripts/layers.cjs exports. */
export type Layers = {
  readonly features: readonly (readonly [name: string, builtOn: readonly string[], holds: string])[];
  readonly rows: readonly {
    readonly folder: string;
    readonly holds: string;
    readonly imports: readonly string[] | null;
  }[];
};

const code = (path: string): string => `\`${path}\``;
const short = (path: string): string => code(path.replace(/^src\//, ''));
const list = (names: readonly string[]): string => (names.length === 0 ? 'nothing' : names.join(', '));

const inKernel = (path: string): boolean => /^src\/kernel\/[^.]+$/.test(path);

/** Folders of the kernel are told together: most rows have several. */
const imported = (paths: readonly string[]): string => {
  const kernel = paths.filter(inKernel).map((path) => path.replace('src/kernel/', ''));
  return list([
    ...(kernel.length === 0 ? [] : [`${code('kernel')} (${kernel.join(', ')})`]),
    ...paths.filter((path) => !inKernel(path)).map(short),
  ]);
};

const table = (rows: readonly (readonly string[])[]): string => {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
};

const featureTable = ({ features }: Layers): string =>
  table([
    ['feature', 'what is in it', 'it builds on'],
    ...features.map(([name, builtOn, holds]) => [code(name), holds, list(builtOn.map(code))]),
  ]);

const folderTable = ({ rows }: Layers): string =>
  table([
    ['folder', 'what is in it', 'it imports, besides itself'],
    ...rows.map(({ folder, holds, imports }) => [
      code(folder),
      holds,
      imports === null ? 'anything' : imported(imports),
    ]),
  ]);

const withTable = (page: string, name: string, made: string): string => {
  const mark = `<!-- ${name}, made from scripts/layers.cjs by \`npm run generate\` -->`;
  const begin = page.indexOf(mark);
  const end = page.indexOf('<!-- end -->', begin);
  if (begin < 0 || end < 0) throw new Error(`the page has no place for the table: ${mark} ... <!-- end -->`);
  return `${page.slice(0, begin + mark.length)}\n\n${made}\n\n${page.slice(end)}`;
};

/**
 * A page with its tables of features and of folders made again.
 * @throws Error when the page has no place for one of them
 */
export const withImportTables = (page: string, layers: Layers): string =>
  withTable(withTable(page, 'features', featureTable(layers)), 'folders', folderTable(layers));
