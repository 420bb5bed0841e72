import { inspect } from 'node:util';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { Rejection } from '../../src/kernel/base/rejection.js';
import type { Completion, CortexEngine } from '../../src/ports/cortex.js';

/** Is in the engine's configuration, if it has one, and in every prompt of the suite. */
export const SECRET = 'sk-never-shown-1';

export type OpenedEngine = {
  readonly engine: CortexEngine;
  /** From now on it returns no text. */
  readonly fail: () => void;
  /** From now on it begins a text and never ends. */
  readonly hang: () => void;
  readonly dispose: () => Promise<void>;
};

const never = new AbortController().signal;

/**
 * The promises of every engine.
 * @param infallible for an engine that answers everything immediately: it can neither fail nor hang
 */
export const cortexEngineContract = (
  name: string,
  open: () => Promise<OpenedEngine>,
  { infallible = false }: { readonly infallible?: boolean } = {},
): void => {
  describe(`${name} as engine`, () => {
    let opened: OpenedEngine;
    let engine: CortexEngine;
    const asked: Completion = { prompt: `Hello there, ${SECRET}!`, maxTokens: 50, temperature: 0.5 };

    beforeEach(async () => {
      opened = await open();
      engine = opened.engine;
    });
    afterEach(() => opened.dispose());

    it('answers with a text and with usage figures', async () => {
      const { text, stats } = await engine.complete(asked, never);
      expect(text).toMatch(/\w/);
      for (const figure of Object.values(stats)) expect(Number.isFinite(figure)).toBe(true);
      expect(engine.state()).toBe('ready');
    });

    it('describes itself', () => {
      expect(engine.id).toMatch(/^[a-z]+$/);
      expect(engine.name).not.toBe('');
      expect(engine.parameters).toBeGreaterThanOrEqual(0);
      expect(['builtin', 'http', 'llama.cpp']).toContain(engine.runtime);
    });

    it('ends its text before the first stop word', async () => {
      const { text } = await engine.complete(asked, never);
      const [, second = ''] = text.split(' ');
      const stopped = await engine.complete({ ...asked, stop: ['nowhere', second] }, never);
      expect(stopped.text.trimEnd()).toBe(text.slice(0, text.indexOf(second)).trimEnd());
    });

    it('does nothing for a caller that has already cancelled', async () => {
      const reason = new Error('gone');
      await expect(engine.complete(asked, AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(engine.state()).toBe('ready');
    });

    if (infallible) return;

    it('tells those who listen that it has answered, until they leave', async () => {
      let answers = 0;
      const stop = engine.onAnswer?.(() => (answers += 1));
      await engine.complete(asked, never);
      expect(answers).toBe(1);
      stop?.();
      await engine.complete(asked, never);
      opened.fail();
      await engine.complete(asked, never).catch(() => undefined);
      expect(answers).toBe(1);
    });

    it('ends with the reason of a caller that cancels', async () => {
      opened.hang();
      const caller = new AbortController();
      const call = engine.complete(asked, caller.signal);
      const reason = new Error('gone');
      setTimeout(() => caller.abort(reason), 20);
      await expect(call).rejects.toBe(reason);
      expect(engine.state()).toBe('ready');
    });

    it('refuses with CORTEX_UNAVAILABLE and a reason when it returns no text, and shows no secret', async () => {
      opened.fail();
      const refusal: unknown = await engine.complete(asked, never).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(Rejection);
      const { code, details, retryAfter } = refusal as Rejection;
      expect(code).toBe('CORTEX_UNAVAILABLE');
      expect(details).toEqual({ cortexId: engine.id, reason: expect.stringMatching(/^[A-Z].*[.]$/) as string });
      expect(retryAfter).toBeGreaterThan(0);
      expect(inspect(refusal, { depth: 9, showHidden: true }) + engine.state()).not.toContain(SECRET);
    });
  });
};
