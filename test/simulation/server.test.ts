import { describe, expect, it, vi } from 'vitest';

import { Rejection } from '../../src/kernel/base/rejection.js';
import { toRejection } from '../../src/kernel/http/on-error.js';
import { defectLog } from './server.js';

describe('a simulated server', () => {
  it('reports an error of a handler as a defect, and no refusal', () => {
    const onDefect = vi.fn<(what: string) => void>();
    const log = defectLog(onDefect);
    expect(toRejection(new Rejection('NPC_NOT_FOUND'), log, {}).code).toBe('NPC_NOT_FOUND');
    expect(onDefect).not.toHaveBeenCalled();
    expect(toRejection(new TypeError('a defect'), log, { requestId: 'r1' }).code).toBe('INTERNAL');
    expect(onDefect.mock.calls).toEqual([[expect.stringMatching(/^TypeError: a defect\n/)]]);
  });
});
