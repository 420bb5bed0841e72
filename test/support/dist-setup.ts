import { distEnv } from './dist-env.js';

/** Runs before any test. Without servers it fails with one message, and not in every file. */
export default function setup(): void {
  distEnv();
}
