import { describe, expect, it } from 'vitest';

import { type HostDeps, hosts, openHosts } from '../../src/server/hosts.js';

describe('the list of hosts', () => {
  it('names no process twice: the second one would take the place of the first', () => {
    const names = hosts.map(({ process }) => process.name);
    expect(names).toEqual([...new Set(names)]);
  });

  it('opens each process with its table, under its own name', () => {
    // Hosts take what they need when a step runs.
    const opened = openHosts({} as HostDeps);
    expect(Object.entries(opened).map(([name, { process }]) => [name, process])).toEqual(
      hosts.map(({ process }) => [process.name, process]),
    );
  });
});
