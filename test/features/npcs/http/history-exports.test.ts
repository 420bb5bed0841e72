import { describe, expect, it } from 'vitest';

import { historyExportRoutes } from '../../../../src/features/npcs/http/histories.js';
import { npcStream } from '../../../../src/kernel/base/stream-names.js';
import { MemoryEventStore } from '../../../support/memory/event-store.js';
import { event } from '../../../support/events.js';

/** An export that is held open: as much of a handler’s response as this test needs. */
type Export = { readonly stream: { readonly chunks: () => AsyncGenerator } };

describe('exports of histories in one process', () => {
  it('are limited to 16 at a time, 8 of one tenant [10.1f]', async () => {
    const events = new MemoryEventStore();
    for (const tenant of ['one', 'two', 'three'])
      await events.append(npcStream(tenant, 'mira'), 'no_stream', [event('a')]);
    const [definition] = historyExportRoutes({ ports: { events } } as unknown as Parameters<
      typeof historyExportRoutes
    >[0]);
    const begin = async (tenant: string) => {
      const call = { principal: { tenant }, params: { npcId: 'mira' }, query: {}, header: () => undefined };
      const { stream } = (await definition?.handler(call as never)) as unknown as Export;
      const chunks = stream.chunks();
      await chunks.next();
      return chunks;
    };
    const open = [];
    for (const tenant of ['one', 'two']) {
      for (let count = 0; count < 8; count += 1) open.push(await begin(tenant));
      await expect(begin(tenant)).rejects.toMatchObject({ code: 'BUSY' });
    }
    await expect(begin('three')).rejects.toMatchObject({ code: 'BUSY' });
    for (const chunks of open) await chunks.return(undefined);
    await (await begin('three')).return(undefined);
  });
});
