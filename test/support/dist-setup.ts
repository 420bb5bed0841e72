import { distEnv } from './dist-env.js';

/** Before any test: without servers one sentence, not a failure of every file. */
export default function setup(): void {
  distEnv();
}
