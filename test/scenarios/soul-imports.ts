import { describe, expect, it } from 'vitest';

import { signSoul } from '../../src/features/souls/soul-signer.js';
import type { JsonObject } from '../../src/kernel/base/json.js';
import { soulFromCbor } from '../support/soul-from-cbor.js';
import type { SoulDocument, SoulInputs } from '../../src/features/souls/domain/document.js';
import { codeOf, type Reply } from '../support/api.js';
import { askPatiently } from '../support/ask-patiently.js';
import { ISSUER, serverKeys, soulMemories, unsignedSoul } from '../support/souls.js';
import { type ProjectingServer, projectingServer } from './projecting-server.js';
import type { OpenServer } from './server-under-test.js';

/** Long enough for a test, short enough to wait for. */
const DEADLINE_MS = 8_000;

type Custody = { readonly copy: boolean; readonly chain: readonly JsonObject[] };

/** What the scenarios do with a server. */
const clientOf = (running: ProjectingServer) => {
  const ok = (reply: Reply, status = 200): Reply => {
    expect(reply.status, reply.text).toBe(status);
    return reply;
  };
  const pathOf = (npcId: string): string => `/npcs/${encodeURIComponent(npcId)}`;
  const begin = (txId: string): Promise<Reply> => running.api.post('/npcs/import', { txIdRef: txId });
  const confirm = (txId: string, adrBody: unknown, more: object = {}): Promise<Reply> =>
    // Confirming twice returns the first response.
    askPatiently(
      () =>
        running.api.post('/npcs/import/confirm', {
          sicTxId: txId,
          sicDownloadResult: { adrBody, adrStatus: 200, adrSuccess: true },
          ...more,
        }),
      (reply) => ['ENGINE_UNAVAILABLE', 'BUSY'].includes(codeOf(reply) ?? ''),
    );
  const bring = async (txId: string, soul: unknown, more: object = {}): Promise<Reply> => {
    ok(await begin(txId));
    return confirm(txId, soul, more);
  };
  const memoriesOf = async (npcId: string): Promise<readonly JsonObject[]> =>
    ok(await running.api.get(`${pathOf(npcId)}/memory?limit=500`)).body as readonly JsonObject[];
  const custodyOf = async (npcId: string): Promise<Custody> =>
    ok(await running.api.get(`${pathOf(npcId)}/custody`)).body as Custody;
  const exported = async (npcId: string): Promise<SoulDocument> => {
    const reply = ok(await running.api.post(`/v1/agents/${encodeURIComponent(npcId)}/soul/export`, {}));
    return (reply.body as { soul: SoulDocument }).soul;
  };
  return { ok, pathOf, begin, confirm, bring, memoriesOf, custodyOf, exported };
};

let souls = 0;
/** A soul that another server has signed; each has its own npcId and root. */
const strangersSoul = async (more: Partial<SoulInputs> = {}): Promise<SoulDocument> => {
  souls += 1;
  const npcId = `Zoë ${souls} of the gate`;
  const plain = unsignedSoul({ soulId: `s${souls}`, npcId, ...more });
  const unsigned = { ...plain, provenance: { ...plain.provenance, npcId: plain.npcId } };
  return signSoul(await serverKeys('a stranger'), ISSUER, unsigned);
};

const txIdOf = (soul: SoulDocument): string => `tx-of-${soul.id}`;

/** Imports of souls over HTTP: the same on every profile. */
export const soulImportScenarios = (profile: string, open: OpenServer): void => {
  describe(`imported souls on ${profile}`, () => {
    const running = projectingServer(open, { ANIMA_SOUL_DEADLINE_MS: String(DEADLINE_MS) });
    const { ok, pathOf, begin, confirm, bring, memoriesOf, custodyOf, exported } = clientOf(running);

    it('say nothing of what came with them if players are left out, unless it is told again [8.10i, 8.10j]', async () => {
      const soul = await strangersSoul();
      ok(await bring(txIdOf(soul), soul));
      ok(await running.api.post(`${pathOf(soul.npcId)}/memory`, { text: 'The gate is new.' }));
      const asked = { persona: soul.persona, npcState: { hp: 10 }, without: ['players'] };
      const sealed = async (more: object): Promise<SoulDocument> =>
        (
          ok(await running.api.post(`${pathOf(soul.npcId)}/soul/export`, { npcIdRef: soul.npcId, ...more })).body as {
            readonly se1SignedPayload: SoulDocument;
          }
        ).se1SignedPayload;
      const bare = await sealed({ without: ['players'] });
      expect([bare.persona, bare.name, bare.state.extra, bare.state.inventory]).toEqual(['', soul.npcId, {}, []]);
      expect(bare.memories.map(({ text }) => text)).toEqual(['The gate is new.']);
      const { chain } = await custodyOf(soul.npcId);
      expect(chain.map(({ txId }) => txId)).toContain(txIdOf(soul));
      const withoutMarks = chain.map(({ verified: _, ...link }) => link);
      expect(bare.provenance.chain).toEqual(withoutMarks.map((link) => ({ ...link, txId: 'withheld' })));
      const told = await sealed(asked);
      expect([told.persona, told.state.extra]).toEqual([soul.persona, { hp: 10 }]);
      const whole = await sealed({});
      expect([whole.persona, whole.memories.length]).toEqual([soul.persona, soul.memories.length + 1]);
      expect(whole.provenance.chain).toEqual(withoutMarks);
    });

    it('become the same NPC, with its id, state, memories and origin [8.3a, 8.3b, 8.3c, 8.4a, 8.4b, 8.4e, 8.4j, 8.4p, 8.4q, 8.4t]', async () => {
      const soul = await strangersSoul();
      const txId = txIdOf(soul);
      const begun = ok(await begin(txId)).body as { si1Instruction: JsonObject };
      expect(begun.si1Instruction).toMatchObject({ adiExpectedTxId: txId });
      expect(ok(await begin(txId)).body).toEqual(begun);
      expect(codeOf(await running.api.get(pathOf(soul.npcId)))).toBe('NPC_NOT_FOUND');

      const done = ok(await confirm(txId, JSON.stringify(soul)));
      const data = { name: 'Zoë', inventory: ['key'], fear: 0.25, hp: 10, skills: 'none', constructor: { a: null } };
      const { persona } = soul;
      expect(done.body).toMatchObject({ npcId: soul.npcId, persona, data, copy: false, signer: 'unknown' });
      expect(done.body).toMatchObject({ soulId: soul.id, kid: expect.any(String) as string });
      expect(ok(await confirm(txId, soul)).body).toEqual(done.body);

      expect(ok(await running.api.get(pathOf(soul.npcId))).body).toMatchObject({ npcId: soul.npcId, persona, data });
      const listed = ok(await running.api.get('/npcs')).body as readonly { npcId: string }[];
      expect(listed.map(({ npcId }) => npcId)).toContain(soul.npcId);
      const remembered = await memoriesOf(soul.npcId);
      expect(
        remembered.map(({ id, text, type, importance, createdAt, confirmed }) => [
          id,
          text,
          type,
          importance,
          createdAt,
          confirmed,
        ]),
      ).toEqual(
        soul.memories.map(({ id, text, type, importance, timestamp, confirmed }) => [
          id,
          text,
          type,
          importance,
          timestamp,
          confirmed,
        ]),
      );
      expect(remembered[1]?.['source']).toEqual({ soulId: soul.id, ...soul.memories[1]?.cause });
      const found = ok(
        await running.api.post(`${pathOf(soul.npcId)}/memory/recall`, { query: 'Memory 1: the necklace' }),
      );
      expect((found.body as readonly JsonObject[]).map(({ id }) => id)).toContain(soul.memories[1]?.id);

      const { copy, chain } = await custodyOf(soul.npcId);
      expect(copy).toBe(false);
      expect(chain.map(({ soulId, verified }) => [soulId, verified])).toEqual([
        ['s1', false],
        [soul.id, true],
      ]);
      expect(chain[1]).toMatchObject({ txId, issuer: ISSUER, npcId: soul.npcId, root: soul.trainingProof });
    });

    it('have all their memories in the list for a reader that requests the revision of the confirmation [1.8f]', async () => {
      const soul = await strangersSoul();
      const done = ok(await bring(txIdOf(soul), soul));
      const headers = { 'anima-min-revision': String(done.headers.get('anima-revision')) };
      const listed = ok(await running.api.get(`${pathOf(soul.npcId)}/memory?limit=500`, headers));
      expect(listed.body).toHaveLength(soul.memories.length);
    });

    it('live once: a repeated import makes a copy, or is refused [8.4i, 8.4j, 8.4k, 8.4l, 8.4m]', async () => {
      const soul = await strangersSoul();
      const txId = txIdOf(soul);
      ok(await bring(txId, soul));
      const refused = await bring(txId, soul);
      expect([refused.status, codeOf(refused)]).toEqual([409, 'SOUL_ALREADY_LIVE']);
      // A client that lost the response gets the finished import; with another txId it was a different import.
      const detailsOf = ({ body }: Reply) => (body as { error: { details: JsonObject } }).error.details;
      const origin = { soulId: soul.id, txId, importedAt: expect.stringMatching(/Z$/) as string };
      expect(detailsOf(refused)).toEqual({ npcId: soul.npcId, origin });
      expect(detailsOf(await bring(`another-${txId}`, soul))).toEqual({ npcId: soul.npcId });
      // The import is still open: the client need not start over.
      const copied = ok(await confirm(txId, soul, { copy: true })).body as { npcId: string };
      expect(copied).toMatchObject({ copy: true, persona: soul.persona });
      expect(copied.npcId).toMatch(/^Zoë \d+ of the gate-copy-[0-9a-f]{8}$/);
      expect(await memoriesOf(copied.npcId)).toHaveLength(soul.memories.length);
      expect(await custodyOf(copied.npcId)).toMatchObject({ copy: true, chain: [{}, { npcId: soul.npcId }] });

      const another = await strangersSoul();
      ok(await running.api.post('/npcs', { npcId: another.npcId, persona: 'Somebody else.' }));
      expect(codeOf(await bring(txIdOf(another), another))).toBe('SOUL_ALREADY_LIVE');
      expect(ok(await running.api.get(pathOf(another.npcId))).body).toMatchObject({ persona: 'Somebody else.' });
    });

    it('do not continue the history of an archived NPC [8.4l]', async () => {
      const soul = await strangersSoul();
      ok(await running.api.post('/npcs', { npcId: soul.npcId, persona: 'Somebody else.' }));
      ok(await running.api('DELETE', pathOf(soul.npcId)));
      const refused = await bring(txIdOf(soul), soul);
      expect([refused.status, codeOf(refused)]).toEqual([409, 'SOUL_ALREADY_LIVE']);
    });

    it('live once across all tenants, until their mind is archived [8.4c, 8.4k, 8.4x]', async () => {
      const soul = await strangersSoul();
      ok(await bring(txIdOf(soul), soul));
      const made = ok(await running.api.post('/tenants', { tenantId: `t${souls}` }), 201).body as { key: string };
      const other = { authorization: `Bearer ${made.key}` };
      const post = (path: string, body: object) => running.api.post(path, body, other);
      const bringThere = async (): Promise<Reply> => {
        ok(await post('/npcs/import', { txIdRef: txIdOf(soul) }));
        return post('/npcs/import/confirm', {
          sicTxId: txIdOf(soul),
          sicDownloadResult: { adrBody: soul, adrSuccess: true },
        });
      };
      const refused = await bringThere();
      expect([refused.status, codeOf(refused)]).toEqual([409, 'SOUL_ALREADY_LIVE']);
      expect(refused.text).not.toContain(soul.npcId);
      ok(await running.api('DELETE', pathOf(soul.npcId)));
      expect(ok(await bringThere()).body).toMatchObject({ npcId: soul.npcId, copy: false });
      // The archived mind does not come back while the soul lives there.
      const revive = () => running.api.post('/npcs', { npcId: soul.npcId, persona: 'Back again.' });
      const act = () => running.api.post(`${pathOf(soul.npcId)}/context`, { observation: 'A knock.' });
      for (const reply of [await revive(), await act()]) {
        expect([reply.status, codeOf(reply)]).toEqual([409, 'SOUL_ALREADY_LIVE']);
        expect(reply.text).not.toContain(soul.npcId);
      }
      ok(await running.api('DELETE', pathOf(soul.npcId), undefined, other));
      ok(await revive());
      const unknown = await running.api.post(
        '/npcs/import/confirm',
        { sicTxId: 'nothing', sicDownloadResult: { adrBody: soul, adrSuccess: true } },
        other,
      );
      expect([unknown.status, codeOf(unknown)]).toEqual([404, 'SOUL_IMPORT_NOT_FOUND']);
    });

    it('can be imported many times concurrently, each copy separately [8.4k]', async () => {
      const soul = await strangersSoul();
      const bringing = Array.from({ length: 5 }, (_, at) => bring(`many-${soul.id}-${at}`, soul, { copy: at > 0 }));
      const npcIds = (await Promise.all(bringing)).map((reply) => (ok(reply).body as { npcId: string }).npcId);
      expect(new Set(npcIds).size).toBe(5);
      for (const npcId of npcIds) expect(await memoriesOf(npcId)).toHaveLength(soul.memories.length);
    });

    it('are imported once for all concurrent confirmations, which all succeed [8.4e]', async () => {
      const soul = await strangersSoul();
      const txId = txIdOf(soul);
      ok(await begin(txId));
      const replies = await Promise.all(Array.from({ length: 16 }, () => confirm(txId, soul)));
      for (const reply of replies) expect(ok(reply).body).toEqual(replies[0]?.body);
    });

    it('keep nothing of other documents that were uploaded concurrently', async () => {
      const souls = await Promise.all([1, 2, 3].map(() => strangersSoul()));
      const txId = `same-${souls[0]?.id ?? ''}`;
      ok(await begin(txId));
      const replies = await Promise.all(souls.map((soul) => confirm(txId, soul)));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
      const there = await Promise.all(souls.map(({ npcId }) => running.api.get(pathOf(npcId))));
      expect(there.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    });

    it('export without players less than the mind they came from: their past was elsewhere [8.10g, 8.10i]', async () => {
      const npcId = `told ${souls++}`;
      ok(await running.api.post('/npcs', { npcId, persona: 'Keeps the gate.' }));
      ok(await running.api.post(`${pathOf(npcId)}/memory`, { text: 'The gate is old.', importance: 0.7 }));
      const verdict = {
        observation: 'A guest greets.',
        npcState: { player: { id: 'p77', name: 'Ulla' } },
        generatedOutput: JSON.stringify({
          dialogue: 'Good evening to you.',
          memoryStore: [{ text: 'Someone was kind.' }],
        }),
      };
      ok(await running.api.post(`${pathOf(npcId)}/verdict`, verdict));
      expect(await memoriesOf(npcId)).toHaveLength(2);
      const without = async (id: string): Promise<readonly string[]> => {
        const path = `/v1/agents/${encodeURIComponent(id)}/soul/export`;
        const { soul } = ok(await running.api.post(path, { without: ['players'] })).body as { soul: SoulDocument };
        return soul.memories.map(({ text }) => text);
      };
      expect(await without(npcId)).toEqual(['The gate is old.']);
      const copied = ok(await bring(`copy-of-${souls}`, await exported(npcId))).body as { npcId: string };
      expect(await memoriesOf(copied.npcId)).toHaveLength(2);
      expect(await without(copied.npcId)).toEqual([]);
    });

    it('of this server are imported as copies that name their source, over several hops [8.4j, 8.4q, 8.4t, 8.4v]', async () => {
      const npcId = `source ${souls++}`;
      ok(await running.api.post('/npcs', { npcId, persona: 'The first.', data: { hp: 3, mood: 'loyal' } }));
      ok(await running.api.post(`${pathOf(npcId)}/memory`, { text: 'The well is deep.', importance: 0.7 }));
      const first = await exported(npcId);
      const one = ok(await bring(first.id, first)).body as { npcId: string };
      expect(one).toMatchObject({ copy: true, signer: 'ours', persona: 'The first.', data: { hp: 3, mood: 'loyal' } });
      const second = await exported(one.npcId);
      const two = ok(await bring(second.id, second)).body as { npcId: string };
      expect((await custodyOf(two.npcId)).chain).toMatchObject([
        { soulId: first.id, npcId, verified: true },
        { soulId: second.id, npcId: one.npcId, verified: true },
      ]);
      expect((await custodyOf(npcId)).chain).toEqual([]);
      const [kept] = await memoriesOf(two.npcId);
      const [origin] = await memoriesOf(npcId);
      expect(kept).toMatchObject({ id: origin?.['id'], text: 'The well is deep.', createdAt: origin?.['createdAt'] });
    });

    it('are refused with the reason when anything in them was changed, and leave nothing behind [8.4f, 8.4i, 8.5b]', async () => {
      const soul = await strangersSoul();
      const txId = txIdOf(soul);
      ok(await begin(txId));
      const [first, second, third] = soul.memories;
      const changed: readonly (readonly [string, unknown])[] = [
        ['wrong_root', { ...soul, persona: `${soul.persona}.` }],
        ['wrong_root', { ...soul, memories: [second, first, third] }],
        ['wrong_parts', { ...soul, memories: [first, second] }],
        ['malformed', { ...soul, memories: [first, first, second] }],
        ['wrong_parts', { ...soul, memories: [first, second, third, { ...third, id: 'm9' }] }],
        ['other_soul', { ...soul, npcId: 'Mallory', provenance: { ...soul.provenance, npcId: 'Mallory' } }],
        ['bad_signature', { ...soul, signature: soul.signature.replace(/.{4}$/, 'AAAA') }],
        ['malformed', { ...soul, extra: 1 }],
        ['malformed', 'no JSON'],
        ['malformed', 7],
      ];
      for (const [reason, document] of changed) {
        const refused = await confirm(txId, document);
        expect([refused.status, codeOf(refused), refused.body.error.details.reason], reason).toEqual([
          422,
          'SOUL_INVALID',
          reason,
        ]);
      }
      expect(codeOf(await running.api.get(pathOf(soul.npcId)))).toBe('NPC_NOT_FOUND');
      // A refused document does not block the right one.
      ok(await confirm(txId, soul));
    });

    it('are refused if the id names another document, or if their data or facts are more than an NPC can have [8.4g, 8.4h, 8.4i]', async () => {
      const npcId = `own ${souls++}`;
      ok(await running.api.post('/npcs', { npcId, persona: 'Own.' }));
      const own = await exported(npcId);
      const listed = ok(await running.api.get('/souls')).body as { souls: readonly { txId: string; npcId: string }[] };
      const txId = listed.souls.find((soul) => soul.npcId === npcId)?.txId ?? '';
      const soul = await strangersSoul();
      const mismatch = await bring(txId, soul);
      expect([mismatch.status, codeOf(mismatch)]).toEqual([422, 'SOUL_PAYLOAD_MISMATCH']);
      ok(await confirm(txId, own));
      const large = await strangersSoul({ data: { notes: 'x'.repeat(262_145) } });
      const refused = await bring(txIdOf(large), large);
      expect([refused.status, codeOf(refused)]).toEqual([413, 'DATA_TOO_LARGE']);
      const knowing = await strangersSoul({ facts: { notes: 'x'.repeat(65_537) } });
      const unfit = await bring(txIdOf(knowing), knowing);
      expect([unfit.status, codeOf(unfit)]).toEqual([422, 'FACTS_TOO_LARGE']);
    });

    it('are imported by the CID of an export to IPFS, which names no other document [8.3a, 8.4g]', async () => {
      const npcId = `ipfs ${souls++}`;
      ok(await running.api.post('/npcs', { npcId, persona: 'Of the planetary sort.' }));
      for (const format of ['json', 'binary']) {
        const body = { storage: 'ipfs', format };
        const reply = ok(await running.api.post(`/v1/agents/${encodeURIComponent(npcId)}/soul/export`, body));
        const { cid } = reply.body as { cid: string };
        const begun = ok(await begin(cid)).body as { si1Instruction: { adiGatewayUrl: string } };
        const download = await fetch(`${begun.si1Instruction.adiGatewayUrl}/${cid}`);
        expect(download.status).toBe(200);
        const bytes = new Uint8Array(await download.arrayBuffer());
        const other = await confirm(cid, await strangersSoul());
        expect([other.status, codeOf(other)]).toEqual([422, 'SOUL_PAYLOAD_MISMATCH']);
        const document = format === 'json' ? Buffer.from(bytes).toString() : soulFromCbor(bytes);
        expect(ok(await confirm(cid, document)).body).toMatchObject({ copy: true, persona: 'Of the planetary sort.' });
      }
    });

    it('are refused before they are parsed when they are too large, as JSON and as its text [1.2s]', async () => {
      ok(await begin('hostile'));
      const lists = '[],'.repeat(400_001);
      for (const adrBody of [JSON.parse(`[${lists}0]`) as unknown, `[${lists}0]`]) {
        const refused = await confirm('hostile', adrBody);
        expect([refused.status, codeOf(refused)]).toEqual([413, 'BODY_TOO_LARGE']);
      }
    });

    it('are not imported when the download failed, was late, or was not started [8.4c, 8.4d, 8.6b]', async () => {
      const soul = await strangersSoul();
      const txId = txIdOf(soul);
      const never = await confirm(txId, soul);
      expect([never.status, codeOf(never)]).toEqual([404, 'SOUL_IMPORT_NOT_FOUND']);
      ok(await begin(txId));
      const failed = await running.api.post('/npcs/import/confirm', {
        sicTxId: txId,
        sicDownloadResult: { adrSuccess: false, adrStatus: 502, adrError: 'bad gateway' },
      });
      expect([failed.status, codeOf(failed)]).toEqual([422, 'SOUL_DOWNLOAD_FAILED']);
      expect(codeOf(await confirm(txId, soul))).toBe('SOUL_DOWNLOAD_FAILED');
      ok(await begin(txId));
      const late = async (): Promise<number> => (await confirm(txId, { ...soul, persona: 'not this one' })).status;
      await expect.poll(late, { timeout: DEADLINE_MS * 3, interval: 500 }).toBe(410);
      expect(codeOf(await confirm(txId, soul))).toBe('SOUL_EXCHANGE_EXPIRED');
      ok(await bring(txId, soul));
    });
  });
};

/** Imports of souls while the server is killed. */
export const soulImportKillScenarios = (profile: string, open: OpenServer): void => {
  describe(`imported souls on ${profile}, after kills`, () => {
    const running = projectingServer(open);
    const { ok, pathOf, begin, confirm, memoriesOf } = clientOf(running);

    it('are imported completely and once, whenever the server is killed [1.2w, 8.4n, 8.6a]', async () => {
      const soul = await strangersSoul({ memories: soulMemories(3_000) });
      const txId = txIdOf(soul);
      const killed = async (): Promise<void> => {
        await running.server.restart('kill');
        running.again();
      };
      ok(await begin(txId));
      await killed();
      let answer: Reply | null = null;
      for (let waited = 40; answer?.status !== 200; waited += 60) {
        const asked = confirm(txId, soul).catch(() => null);
        // Each time it gets a little further.
        if (waited < 600) {
          await new Promise((resolve) => setTimeout(resolve, waited));
          await killed();
        }
        answer = await asked;
        const seen = await running.api.get(pathOf(soul.npcId));
        // After a kill lists may lag, but they never show a part.
        if (seen.status === 200) expect([0, 500]).toContain((await memoriesOf(soul.npcId)).length);
        else expect(codeOf(seen)).toBe('NPC_NOT_FOUND');
      }
      expect(answer.body).toMatchObject({ npcId: soul.npcId, copy: false });
      await killed();
      expect(ok(await confirm(txId, soul)).body).toEqual(answer.body);
      const all = async (): Promise<readonly unknown[]> =>
        (ok(await running.api.get(`${pathOf(soul.npcId)}/memory`)).body as readonly JsonObject[]).map(({ id }) => id);
      await expect.poll(all, { timeout: 60_000, interval: 300 }).toEqual(soul.memories.map(({ id }) => id));
      const history = ok(await running.api.get(`${pathOf(soul.npcId)}/history?type=SoulArrivalBegun,SoulArrived`)).body;
      expect((history as { events: JsonObject[] }).events).toHaveLength(2);
    }, 300_000);
  });
};
