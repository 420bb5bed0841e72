import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { bundleWorkflowCode } from '@temporalio/worker';

import { encodedFailures } from './connection.js';

const fileOf = (name: string): string => fileURLToPath(new URL(`../../../workflows/${name}`, import.meta.url));

/** Where the build puts a bundle, beside the compiled workflow. There are two: the workflow itself makes its failures, encoded or not. */
export const bundleFile = (encodesFailures: boolean): string =>
  fileOf(encodesFailures ? 'durable-process.encoded-failures.bundle.js' : 'durable-process.bundle.js');

/** Bundles the one workflow: some seconds of work, done once by the build. */
export const bundleDurableProcess = async (encodesFailures: boolean): Promise<string> => {
  const compiled = fileOf('durable-process.js');
  const workflowsPath = existsSync(compiled) ? compiled : fileOf('durable-process.ts');
  const failures = encodesFailures ? { failureConverterPath: encodedFailures } : {};
  return (await bundleWorkflowCode({ workflowsPath, logger: silent, ...failures })).code;
};

/** The bundle as a worker takes it: the build's, or one made now where the sources run unbuilt. */
export const loadWorkflowBundle = async (
  encodesFailures = false,
): Promise<{ readonly codePath: string } | { readonly code: string }> => {
  const codePath = bundleFile(encodesFailures);
  return existsSync(codePath) ? { codePath } : { code: await bundleDurableProcess(encodesFailures) };
};

const ignore = (): void => undefined;
/** What the bundler tells of its work; its failures are thrown. */
const silent = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
