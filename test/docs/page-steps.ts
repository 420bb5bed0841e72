/** A fenced block of a page that a reader acts on. */
export type PageStep =
  | { readonly kind: 'file'; readonly line: number; readonly name: string; readonly content: string }
  | { readonly kind: 'script'; readonly line: number; readonly script: string; readonly exit: number }
  | {
      readonly kind: 'session';
      readonly line: number;
      readonly command: string;
      /** What the reader types into the command, one line each. */
      readonly typed: readonly string[];
      /** What the page shows of the output; a line with `…` varies and is not compared. */
      readonly shown: readonly string[];
      readonly exit: number;
    }
  | { readonly kind: 'not run'; readonly line: number; readonly reason: string };

type Fence = { readonly line: number; readonly info: string; readonly note: string; readonly lines: readonly string[] };

const fencesOf = (markdown: string): readonly Fence[] => {
  const fences: Fence[] = [];
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent = '', ticks, info = ''] = /^( *)(`{3,})(.*)$/.exec(lines[index] ?? '') ?? [];
    if (ticks === undefined) continue;
    const begin = index;
    const content: string[] = [];
    for (index += 1; index < lines.length && (lines[index] ?? '').trim() !== ticks; index += 1)
      content.push((lines[index] ?? '').slice(indent.length));
    let above = begin - 1;
    while (above >= 0 && lines[above]?.trim() === '') above -= 1;
    fences.push({ line: begin + 1, info: info.trim(), note: lines[above]?.trim() ?? '', lines: content });
  }
  return fences;
};

/** Splits a session at its `$ ` lines; a command goes on over lines that end with a backslash. */
const sessionsOf = ({ line, lines }: Fence, exit: number): readonly PageStep[] => {
  const sessions: { line: number; command: string; typed: string[]; shown: string[] }[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const text = lines[index] ?? '';
    const session = sessions.at(-1);
    if (text.startsWith('$ ')) {
      let command = text.slice(2);
      const begin = line + 1 + index;
      while (command.endsWith('\\')) command += `\n${lines[(index += 1)] ?? ''}`;
      sessions.push({ line: begin, command, typed: [], shown: [] });
    } else if (session === undefined) throw new Error(`line ${line}: a session must begin with "$ ".`);
    else if (text.startsWith('> ')) session.typed.push(text.slice(2));
    else if (text.trim() !== '') session.shown.push(text);
  }
  return sessions.map((session, at) => ({ kind: 'session', ...session, exit: at === sessions.length - 1 ? exit : 0 }));
};

/**
 * The steps of a page, from top to bottom: fences marked `sh` and `console`, and those whose info string has a title, which are files to create.
 * A comment `<!-- not run: reason -->` or `<!-- exit: 1 -->` directly above a fence says that a test cannot run it, or how it ends.
 */
export const stepsOf = (markdown: string): readonly PageStep[] =>
  fencesOf(markdown).flatMap((fence): readonly PageStep[] => {
    const { line, info, note, lines } = fence;
    const [, name] = /title="([^"]+)"/.exec(info) ?? [];
    if (name !== undefined) return [{ kind: 'file', line, name, content: `${lines.join('\n')}\n` }];
    if (!/^(sh|bash|shell|console)\b/.test(info)) return [];
    const [, reason] = /^<!-- not run: (.+) -->$/.exec(note) ?? [];
    if (reason !== undefined) return [{ kind: 'not run', line, reason }];
    const exit = Number(/^<!-- exit: (\d+) -->$/.exec(note)?.[1] ?? 0);
    if (info.startsWith('console')) return sessionsOf(fence, exit);
    return [{ kind: 'script', line, script: lines.join('\n'), exit }];
  });
