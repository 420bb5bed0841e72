import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { bundleWorkflowCode } from '@temporalio/worker';

import { encodedFailures } from './connection.js';

const fileOf = (name: string): string => fileURLToPath(new URL(`../../../workflows/temporal/${name}`, import.meta.url));

/** Where the build puts a bundle, next to the compiled workflows. There are two: workflows make their failures themselves, encoded or not. */
export const bundleFile = (encodesFailures: boolean): string =>
  fileOf(encodesFailures ? 'workflows.encoded-failures.bundle.js' : 'workflows.bundle.js');

/** Bundles the workflows: some seconds of work, done once by the build. */
export const bundleWorkflows = async (encodesFailures: boolean): Promise<string> => {
  const compiled = fileOf('workflows.js');
  const workflowsPath = existsSync(compiled) ? compiled : fileOf('workflows.ts');
  const failures = encodesFailures ? { failureConverterPath: encodedFailures } : {};
  return (await bundleWorkflowCode({ workflowsPath, logger: silent, ...failures })).code;
};

/** The bundle in the form that a worker accepts: the build's, or one made now if the sources run unbuilt. */
export const loadWorkflowBundle = async (
  encodesFailures = false,
): Promise<{ readonly codePath: string } | { readonly code: string }> => {
  const codePath = bundleFile(encodesFailures);
  return existsSync(codePath) ? { codePath } : { code: await bundleWorkflows(encodesFailures) };
};

const ignore = (): void => undefined;
/** Silences the bundler's log; its failures are thrown. */
const silent = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
