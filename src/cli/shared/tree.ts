/** A line with the lines below it. */
export type Branch = { readonly text: string; readonly below?: readonly Branch[] };

/** A tree as lines of text, each branch under its parent. */
export const treeLines = ({ text, below = [] }: Branch): readonly string[] => [text, ...branches(below, '')];

const branches = (list: readonly Branch[], indent: string): readonly string[] =>
  list.flatMap(({ text, below = [] }, at) => {
    const isLast = at === list.length - 1;
    return [`${indent}${isLast ? '└─' : '├─'} ${text}`, ...branches(below, `${indent}${isLast ? '   ' : '│  '}`)];
  });
