import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Said = { readonly status: number; readonly said: string };

/** Whether `python3` is available with the packages that the verifiers import. */
export const canVerify = (): boolean => spawnSync('python3', ['-c', 'import cryptography']).status === 0;

/** One Python process that runs a script once for each call, one after the other; `said` is its output on both streams, trimmed. */
export const pythonScript = (
  script: string,
): { readonly run: (input: string | Uint8Array, ...args: readonly string[]) => Promise<Said> } & Disposable => {
  const python = spawn('python3', [fileURLToPath(new URL('./run-again.py', import.meta.url)), script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const answered = async (call: string): Promise<Said> => {
    python.stdin.write(`${call}\n`);
    const answer = await answers.next();
    if (answer.done === true) throw new Error(`python3 ended while it ran ${script}`);
    const { status, said } = JSON.parse(answer.value) as Said;
    return { status, said: said.trim() };
  };
  return {
    run: (input, ...args) => {
      const call = JSON.stringify({ args, input: Buffer.from(input).toString('base64') });
      const result = last.then(() => answered(call));
      last = result.catch(() => undefined);
      return result;
    },
    [Symbol.dispose]: () => {
      python.stdin.end();
    },
  };
};
