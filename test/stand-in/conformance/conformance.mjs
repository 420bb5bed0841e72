#!/usr/bin/env node
// Runs every scenario against a server that speaks the EventStoreDB gRPC protocol, and writes or compares normalised answers.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Context } from './lib/context.mjs';
import { diff } from './lib/diff.mjs';
import { describeError, normalise } from './lib/normalise.mjs';
import { loadPackage } from './lib/package.mjs';

const USAGE = `usage: node conformance.mjs --url esdb://127.0.0.1:2113?tls=false [options]
  --client <dir>   directory whose node_modules holds @eventstore/db-client (default: here, then beside this file)
  --out <file>     write the normalised answers
  --check <file>   compare with answers written earlier; exit code 1 when anything differs
  --only <text>    run the scenarios whose name or theme contains the text (repeatable)
  --skip <text>    leave those out (repeatable)
  --theme <name>   run the scenarios of exactly this theme (repeatable)
  --patience <n>   allow n times the time for each scenario and for the programs it starts (default 1): for slow or busy machines
  --show           print each scenario's answer
  --list           print the names of the scenarios and stop
  --load           run the load figures instead; they go to stdout only
exit code: 0 no difference, 1 differences or unfinished scenarios, 2 could not run`;

const DEFAULT_LIMIT = 8000;
const here = dirname(fileURLToPath(import.meta.url));

const { values: args } = parseArgs({
  options: {
    url: { type: 'string' },
    client: { type: 'string' },
    out: { type: 'string' },
    check: { type: 'string' },
    only: { type: 'string', multiple: true },
    skip: { type: 'string', multiple: true },
    theme: { type: 'string', multiple: true },
    patience: { type: 'string', default: '1' },
    show: { type: 'boolean' },
    list: { type: 'boolean' },
    load: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

async function loadScenarios() {
  const files = (await readdir(join(here, 'scenarios'))).filter((file) => file.endsWith('.mjs')).sort();
  const all = [];
  for (const file of files) {
    const { default: scenarios } = await import(pathToFileURL(join(here, 'scenarios', file)));
    const theme = file.replace(/\.mjs$/, '').replace(/^\d+-/, '');
    all.push(...scenarios.map((scenario) => ({ theme, ...scenario })));
  }
  const names = all.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new Error(`two scenarios are called "${twice}"`);
  const matches = (scenario, words) => words.some((word) => scenario.name.includes(word) || scenario.theme.includes(word));
  const unknown = args.theme?.find((name) => !all.some(({ theme }) => theme === name));
  if (unknown) throw new Error(`there is no theme "${unknown}"`);
  return all
    .filter(({ theme }) => !args.theme || args.theme.includes(theme))
    .filter((scenario) => !args.only || matches(scenario, args.only))
    .filter((scenario) => !args.skip || !matches(scenario, args.skip));
}

// An error that the client raises outside any promise of the caller belongs to the scenario that is running.
let escaped = [];
process.on('uncaughtException', (error) => escaped.push(describeError(error)));
process.on('unhandledRejection', (error) => escaped.push(describeError(error)));

async function runScenario(scenario, pkg, url) {
  const patience = Number(args.patience);
  const context = new Context(pkg, url, patience);
  const limit = (scenario.limit ?? DEFAULT_LIMIT) * patience;
  escaped = [];
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(() => resolve({ timedOut: `no answer within ${limit} ms` }), limit)));
  const started = performance.now();
  const outcome = await Promise.race([
    Promise.resolve()
      .then(() => scenario.run(context))
      .catch((error) => ({ scenarioFailed: describeError(error), at: String(error?.stack ?? error).split('\n').slice(0, 3).join(' | ') })),
    late,
  ]);
  clearTimeout(timer);
  const took = Math.round(performance.now() - started);
  await context.close();
  const whole = escaped.length > 0 ? { answer: outcome, escaped } : outcome;
  return { result: normalise(whole, context.placeholders), took };
}

async function main() {
  if (args.help) return console.log(USAGE);
  const scenarios = await loadScenarios();
  if (args.list) return scenarios.forEach(({ theme, name }) => console.log(`${theme.padEnd(20)} ${name}`));
  if (!args.url) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const pkg = loadPackage(args.client);

  if (args.load) {
    const { measure } = await import('./lib/load.mjs');
    return measure(new Context(pkg, args.url));
  }

  const golden = args.check && JSON.parse(await readFile(args.check, 'utf8'));
  const probe = new Context(pkg, args.url);
  const { serverVersion } = await probe.client.capabilities;
  await probe.close();
  console.log(`server ${serverVersion}, client ${pkg.version}, ${scenarios.length} scenarios`);

  const answers = {};
  const different = [];
  const unfinished = [];
  const began = performance.now();
  for (const scenario of scenarios) {
    const { result, took } = await runScenario(scenario, pkg, args.url);
    answers[scenario.name] = { theme: scenario.theme, result };
    if (result?.timedOut || result?.scenarioFailed) unfinished.push(scenario.name);
    let word = 'ran';
    let lines = [];
    if (golden) {
      const expected = golden.scenarios[scenario.name];
      lines = expected ? diff(expected.result, result) : ['(result): not in the golden file'];
      word = lines.length > 0 ? 'DIFFERENT' : 'same';
      if (lines.length > 0) different.push(scenario.name);
    }
    console.log(`${word.padEnd(9)} ${String(took).padStart(5)} ms  ${scenario.theme} / ${scenario.name}`);
    for (const line of lines) console.log(`            ${line}`);
    if (args.show) console.log(JSON.stringify(result, null, 2));
  }

  if (golden && !args.only && !args.skip && !args.theme)
    for (const name of Object.keys(golden.scenarios))
      if (!answers[name]) different.push(name) && console.log(`MISSING   ${name}: in the golden file, but no such scenario ran`);

  if (args.out) {
    const file = { made: { server: serverVersion, client: `@eventstore/db-client ${pkg.version}`, grpc: `@grpc/grpc-js ${pkg.grpcVersion}`, node: process.version }, scenarios: answers };
    await writeFile(args.out, `${JSON.stringify(file, null, 1)}\n`);
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${scenarios.length} scenarios in ${seconds} s` + (golden ? `, ${different.length} different` : ''));
  if (different.length > 0) console.log(`different: ${different.join(', ')}`);
  if (unfinished.length > 0) console.log(`did not finish: ${unfinished.join(', ')}`);
  if (different.length > 0 || (!golden && unfinished.length > 0)) process.exitCode = 1;
}

await main().catch((error) => {
  console.error(`could not run: ${error.message}`);
  process.exitCode = 2;
});
process.exit(process.exitCode ?? 0);
