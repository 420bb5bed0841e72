import { expect, it } from 'vitest';

import { streamNames } from '../../src/adapters/eventstore/stored-event.js';
import { eventsTopic, projectorGroup } from '../../src/adapters/kafka/client.js';
import { taskQueueOf } from '../../src/adapters/temporal/names.js';

it('the names of two installations on shared servers begin with their namespaces [11.1g]', () => {
  const namesOf = (namespace: string): readonly string[] => [
    streamNames(namespace).toServer('npc-local.mira'),
    eventsTopic({ namespace }),
    projectorGroup({ namespace }),
    taskQueueOf(namespace),
  ];
  const [one, other] = [namesOf('studio'), namesOf('studio2')];
  for (const name of one) expect(name).toMatch(/^studio(?!2)\W/);
  for (const name of other) expect(name).toMatch(/^studio2\W/);
});
