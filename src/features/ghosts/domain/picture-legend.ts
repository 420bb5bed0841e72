/** The colours of a picture of a session. The more often a tile was entered, the warmer its shade. */
export const SHADES = ['#dbeafe', '#93c5fd', '#60a5fa', '#f59e0b', '#ef4444'] as const;
export const COLOURS = {
  wall: '#374151',
  way: '#1f2937',
  hazard: '#dc2626',
  door: '#92400e',
  item: '#d97706',
  character: '#7c3aed',
  goal: '#16a34a',
  spawn: '#2563eb',
  finding: '#be185d',
} as const;

/** The width of one entry, in units of the picture. */
const WIDTH = 90;
const HEIGHT = 12;
const SIGN = 8;

const square = (colour: string): string =>
  `<rect y="2" width="${String(SIGN)}" height="${String(SIGN)}" fill="${colour}"/>`;
const circle = (colour: string): string =>
  `<circle cx="${String(SIGN / 2)}" cy="6" r="${String(SIGN / 2)}" fill="${colour}"/>`;
const outline = `<rect y="2" width="${String(SIGN)}" height="${String(SIGN)}" fill="none" stroke="${COLOURS.finding}" stroke-width="1.5"/>`;
const line = `<path d="M0 6h${String(SIGN)}" stroke="${COLOURS.way}" stroke-width="0.6"/>`;

const ENTRIES: readonly (readonly [sign: string, words: string])[] = [
  [circle(COLOURS.spawn), 'spawn'],
  [circle(COLOURS.goal), 'goal'],
  [circle(COLOURS.item), 'item'],
  [circle(COLOURS.door), 'door'],
  [circle(COLOURS.hazard), 'hazard'],
  [circle(COLOURS.character), 'character'],
  [square(COLOURS.wall), 'wall'],
  [square(SHADES[0]), 'seldom entered'],
  [square(SHADES[4]), 'often entered'],
  [line, 'end of the path'],
  [outline, 'where a finding began'],
];

/** The legend of a picture of this width, in as many columns as fit; all in units of the picture. */
export const legendOf = (width: number): { readonly width: number; readonly height: number; readonly svg: string } => {
  const columns = Math.max(1, Math.floor(width / WIDTH));
  const entries = ENTRIES.map(([sign, words], index) => {
    const [x, y] = [(index % columns) * WIDTH + 2, Math.floor(index / columns) * HEIGHT];
    return `<g transform="translate(${String(x)} ${String(y)})">${sign}<text x="${String(SIGN + 3)}" y="8.5">${words}</text></g>`;
  });
  return {
    width: Math.max(width, WIDTH),
    height: Math.ceil(ENTRIES.length / columns) * HEIGHT,
    svg: `<g font-family="sans-serif" font-size="7" fill="#111827">${entries.join('')}</g>`,
  };
};
