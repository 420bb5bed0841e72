#!/usr/bin/env node
import { readEnvironment } from '../config/env.js';
import { exitCodes, runCli } from './program.js';
import { tolerateClosedPipe } from './shared/terminal.js';

const { stdin, stdout, stderr } = process;
for (const stream of [stdout, stderr]) {
  tolerateClosedPipe(stream, () => {
    process.exitCode = exitCodes.failed;
  });
}
const code = await runCli(process.argv.slice(2), { env: readEnvironment(), cwd: process.cwd(), stdin, stdout, stderr });
// A failed write may already have set the exit code.
if (code !== exitCodes.done) process.exitCode = code;
