import { distEnv } from './dist-env.js';

/** Runs before any test. Without servers it fails with one sentence, and not in every file. */
export default function setup(): void {
  distEnv();
}
