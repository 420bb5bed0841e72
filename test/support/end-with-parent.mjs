// Preloaded into every child process of a test. A pipe from the test's process is file descriptor 3: it ends when that process is gone, also by
// kill -9, and the child follows. Without this, a test that times out would leave its server behind.
import { Socket } from 'node:net';

new Socket({ fd: 3 })
  .on('end', () => process.kill(process.pid, 'SIGKILL'))
  .resume()
  .unref();
