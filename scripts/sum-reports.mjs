// Sums the results of several test runs and checks, and prints one line: "N passed, N failed" (", N skipped" when any).
// Usage: node scripts/sum-reports.mjs <what>=<exit code> ...
//   <file>.json=<code>   a vitest JSON report and the exit code of the run that wrote it
//   <name>=<code>        any other step; it counts as one failed when its code is not 0, and not at all when it is
// Every run that cannot be trusted counts as failed: no report, no test in it, or an exit code that its report does not explain.
// Exits 1 when anything failed or nothing passed.
import { readFileSync } from 'node:fs';

const nothing = { passed: 0, failed: 0, skipped: 0, complaints: [] };

const count = (value) => (Number.isInteger(value) && value >= 0 ? value : 0);

const readReport = (file) => {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    return typeof report === 'object' && report !== null && Array.isArray(report.testResults) ? report : null;
  } catch {
    return null;
  }
};

/** Test files that failed without a failed test: they could not be loaded, or a hook threw. */
const brokenFiles = (report) =>
  report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !(assertionResults ?? []).some((assertion) => assertion.status === 'failed'),
  );

const sumRun = (file, code) => {
  const report = readReport(file);
  if (report === null) return { ...nothing, failed: 1, complaints: [`${file}: there is no readable report`] };
  const broken = brokenFiles(report);
  const complaints = broken.map(({ name }) => `${name}: the file failed outside its tests`);
  const passed = count(report.numPassedTests);
  const skipped = count(report.numPendingTests) + count(report.numTodoTests);
  let failed = count(report.numFailedTests) + broken.length;
  if (passed + failed + skipped === 0) {
    failed = 1;
    complaints.push(`${file}: no test was run`);
  } else if (failed === 0 && code !== 0) {
    failed = 1;
    complaints.push(`${file}: the run ended with exit code ${code} though no test failed`);
  }
  return { passed, failed, skipped, complaints };
};

const sumStep = (name, code) => (code === 0 ? nothing : { ...nothing, failed: 1, complaints: [`${name}: failed`] });

const parse = (argument) => {
  const [, what, code] = /^(.+)=(\d+)$/s.exec(argument) ?? [];
  if (what === undefined) {
    console.error(`sum-reports: "${argument}" is not <what>=<exit code>`);
    process.exit(2);
  }
  return what.endsWith('.json') ? sumRun(what, Number(code)) : sumStep(what, Number(code));
};

const parts = process.argv.slice(2).map(parse);
const total = (member) => parts.reduce((sum, part) => sum + part[member], 0);
for (const complaint of parts.flatMap(({ complaints }) => complaints)) console.error(complaint);
const skipped = total('skipped');
console.log(`${total('passed')} passed, ${total('failed')} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
if (total('failed') > 0 || total('passed') === 0) process.exitCode = 1;
