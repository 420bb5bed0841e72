import { PassThrough, Readable } from 'node:stream';

import { runCli } from '../../src/cli/program.js';

export type Typed = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** The output and exit code of `anima <words>`, in an environment with nothing but `env`; `lines` are typed in. */
export const typed = async (
  words: readonly string[],
  {
    env = {},
    cwd = '/nonexistent',
    lines = [],
    isTerminal = false,
  }: {
    readonly env?: Record<string, string>;
    readonly cwd?: string;
    readonly lines?: Lines;
    readonly isTerminal?: boolean;
  } = {},
): Promise<Typed> => {
  const [stdout, stderr] = [collected(), collected()];
  const stdin = Object.assign(Readable.from(ended(lines)), isTerminal ? { isTTY: true } : {});
  const code = await runCli(words, { env, cwd, stdin, stdout: stdout.stream, stderr: stderr.stream });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
};

/** As somebody types them, or all at the same time. */
type Lines = readonly string[] | AsyncIterable<string>;

async function* ended(lines: Lines): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

const collected = (): { readonly stream: PassThrough; text(): string } => {
  const chunks: string[] = [];
  const stream = new PassThrough({ encoding: 'utf8' }).on('data', (chunk: string) => chunks.push(chunk));
  return { stream, text: () => chunks.join('') + String(stream.read() ?? '') };
};
