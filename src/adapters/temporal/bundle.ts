import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { bundleWorkflowCode } from '@temporalio/worker';

const fileOf = (name: string): string => fileURLToPath(new URL(`../../../workflows/${name}`, import.meta.url));

/** Where the build puts the bundle, beside the compiled workflows. */
export const bundleFile = fileOf('temporal-workflows.bundle.js');

/** Bundles the workflows: some seconds of work, done once by the build. */
export const bundleWorkflows = async (): Promise<string> => {
  const compiled = fileOf('temporal-workflows.js');
  const workflowsPath = existsSync(compiled) ? compiled : fileOf('temporal-workflows.ts');
  return (await bundleWorkflowCode({ workflowsPath, logger: silent })).code;
};

/** The bundle as a worker takes it: the build's, or one made now where the sources run unbuilt. */
export const loadWorkflowBundle = async (): Promise<{ readonly codePath: string } | { readonly code: string }> =>
  existsSync(bundleFile) ? { codePath: bundleFile } : { code: await bundleWorkflows() };

const ignore = (): void => undefined;
/** What the bundler tells of its work; its failures are thrown. */
const silent = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
