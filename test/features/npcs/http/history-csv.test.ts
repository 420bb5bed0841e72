import { describe, expect, it } from 'vitest';

import type { HistoryEvent } from '../../../../src/kernel/streams/history.js';
import { csvHeader, csvLine } from '../../../../src/features/npcs/http/history-csv.js';

const event: HistoryEvent = {
  ...{ revision: 7, id: 'i', type: 'VerdictReached', at: '2026-01-01T00:00:00.000Z', actor: 'key-1', commandId: 'c' },
  ...{ causationId: null, correlationId: '=HYPERLINK("http://x")', schemaVersion: 1, turnId: 't1' },
  ...{ data: { said: 'Three "coins",\r\nin advance.' }, hash: 'h', prevHash: 'p' },
};

describe('a history as CSV', () => {
  it('has a line for each event, with its data as JSON [10.1e]', () => {
    expect(csvHeader()).toBe(
      'revision,at,type,actor,turnId,data,id,commandId,correlationId,causationId,schemaVersion,hash,prevHash\r\n',
    );
    expect(csvLine({ ...event, correlationId: 'r' })).toBe(
      '7,2026-01-01T00:00:00.000Z,VerdictReached,key-1,t1,"{""said"":""Three \\""coins\\"",\\r\\nin advance.""}",i,c,r,,1,h,p\r\n',
    );
  });

  it('contains no formulas: client input is plain text [10.1e]', () => {
    expect(csvLine(event)).toContain(`"'=HYPERLINK(""http://x"")"`);
  });
});
